//! Books on shelves.

#[macro_use]
mod report;
pub mod book;
mod store;
#[path = "ordering.rs"]
mod order;

pub use book::{Book, Kind};
pub use order::*;
pub use store::{memory::MemoryStore, Error, Store};

/// What everything gives back here.
pub type Result<T> = std::result::Result<T, Error>;

/// Opens the shelf that is always there.
pub fn open_default() -> Result<MemoryStore> {
    MemoryStore::open("default")
}
