mod line;

pub use self::line::Line;

use shelf_core::{by_title, MemoryStore};

#[derive(Default)]
pub struct Page {
    pub lines: Vec<Line>,
}

impl Page {
    pub fn write(&mut self, line: Line) -> &mut Self {
        self.lines.push(line);
        self
    }
}

pub async fn first(store: &MemoryStore) -> Page {
    let mut books = store.sorted();
    by_title(&mut books);
    let mut page = Page::default();
    if let Some(book) = books.first() {
        page.write(Line::of(book));
    }
    page
}
