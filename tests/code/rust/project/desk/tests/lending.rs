use shelf_core::{open_default, Book, Store};

struct Fixture {
    store: shelf_core::MemoryStore,
}

impl Fixture {
    fn new() -> Self {
        Fixture { store: open_default().unwrap() }
    }
}

#[tokio::test]
async fn put_and_find() {
    let mut fixture = Fixture::new();
    fixture.store.put(Book::from("Emma")).unwrap();
    assert!(fixture.store.find("Emma").is_some());
}
