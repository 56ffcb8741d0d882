pub mod memory;

use crate::{book::Book, Result};

#[derive(Debug)]
pub enum Error {
    Missing(String),
    Closed,
}

/// What has a name.
pub trait Named {
    fn name(&self) -> String;
}

/// Where books are kept.
pub trait Store: Named {
    fn put(&mut self, book: Book) -> Result<()>;

    fn find(&self, title: &str) -> Option<&Book>;

    /// Like `find`, but says what is missing.
    fn get(&self, title: &str) -> Result<&Book> {
        self.find(title).ok_or_else(|| Error::Missing(self.name()))
    }
}
