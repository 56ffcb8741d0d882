use std::fmt;

use serde::Serialize;

/// What a book is.
#[derive(Clone, Debug, Serialize)]
pub enum Kind {
    Novel,
    Atlas(Scale),
    Series { part: Box<Book> },
}

#[derive(Clone, Debug, Serialize)]
pub struct Scale(pub u32);

impl Scale {
    pub fn label(&self) -> String {
        format!("1:{}", self.rounded())
    }

    fn rounded(&self) -> u32 {
        self.0 / 10 * 10
    }
}

/// A book.
#[derive(Clone, Debug, Serialize)]
pub struct Book {
    pub title: String,
    kind: Kind,
}

impl Book {
    pub fn new(title: &str) -> Self {
        Book { title: title.to_string(), kind: Kind::Novel }
    }

    pub fn atlas(title: &str, scale: u32) -> Self {
        Self { kind: Kind::Atlas(Scale(scale)), ..Self::new(title) }
    }

    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Novel => self.title.clone(),
            Kind::Atlas(scale) => scale.label(),
            Kind::Series { part } => part.describe(),
        }
    }
}

impl fmt::Display for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.describe())
    }
}

impl From<&str> for Book {
    fn from(title: &str) -> Self {
        Self::new(title)
    }
}

impl From<u32> for Book {
    fn from(number: u32) -> Self {
        Self::new(&number.to_string())
    }
}
