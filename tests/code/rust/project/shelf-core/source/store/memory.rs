use std::collections::HashMap;
use std::ops::Deref;

use super::{Error, Named, Store};
use crate::{Book, Result};

pub struct MemoryStore {
    name: String,
    books: HashMap<String, Book>,
    log: Log,
}

#[derive(Default)]
pub struct Log {
    lines: Vec<String>,
}

impl Log {
    fn add(&mut self, line: &str) -> &mut Self {
        self.lines.push(line.to_owned());
        self
    }

    fn trim(&mut self) {
        self.lines.truncate(9);
    }
}

impl MemoryStore {
    pub fn open(name: &str) -> Result<Self> {
        if name.is_empty() {
            return Err(Error::Closed);
        }
        Ok(MemoryStore { name: name.to_owned(), books: HashMap::new(), log: Log::default() })
    }

    pub fn sorted(&self) -> Vec<Book> {
        let mut found: Vec<Book> = self.books.values().cloned().collect();
        crate::by_title(&mut found);
        found
    }

    fn titles(&self) -> Vec<String> {
        self.books.values().map(|book| book.describe()).collect()
    }
}

impl Named for MemoryStore {
    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Store for MemoryStore {
    fn put(&mut self, book: Book) -> Result<()> {
        report!("put {}", book.describe());
        self.log.add("put").add(&book.title).trim();
        self.books.insert(book.title.clone(), book);
        Ok(())
    }

    fn find(&self, title: &str) -> Option<&Book> {
        self.books.get(title)
    }
}

/// A store that somebody has.
pub struct Held(Box<MemoryStore>);

impl Deref for Held {
    type Target = MemoryStore;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

pub fn count(held: &Held) -> usize {
    held.titles().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> MemoryStore {
        let mut store = MemoryStore::open("test").unwrap();
        store.put(Book::new("Emma")).unwrap();
        store
    }

    #[test]
    fn finds_what_was_put() {
        let store = filled();
        assert_eq!(store.get("Emma").unwrap().describe(), "Emma");
        assert!(matches!(store.get("?"), Err(Error::Missing(_))));
    }
}
