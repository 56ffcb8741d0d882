mod view;

use shelf_core::{self as shelf, Book as Volume, Kind, Result, Store};

use crate::view::{Line, Page};

/// Lends books.
struct Desk<S> {
    store: S,
    page: Option<Page>,
}

impl<S: Store> Desk<S> {
    fn over(store: S) -> Self {
        Desk { store, page: None }
    }

    fn lend(&mut self, title: &str) -> Result<()> {
        let book = self.store.get(title)?;
        let page = self.page.as_mut().expect("a page");
        page.write(Line::of(book));
        Ok(())
    }
}

fn each<F>(page: &Page, told: F)
where
    F: Fn(&Line),
{
    page.lines.iter().for_each(|line| told(line));
}

fn fill(store: &mut dyn Store) -> Result<()> {
    for title in ["Emma", "Ulysses"] {
        store.put(Volume::new(title))?;
    }
    let book = Volume::atlas("World", 100);
    let book = Line::of(&book);
    book.show();
    Ok(())
}

fn untold(kind: &Kind) -> bool {
    let line = std::iter::once(Line::of(&Volume::from("Emma"))).last().unwrap();
    line.show();
    matches!(kind, Kind::Atlas(_))
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut store = shelf::open_default()?;
    fill(&mut store)?;
    let page = view::first(&store).await;
    each(&page, |line| line.show());
    page.lines.iter().map(Line::text).for_each(drop);
    Desk::over(store).lend("Emma")
}
