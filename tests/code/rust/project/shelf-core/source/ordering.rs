use crate::book::Book;

pub fn by_title(books: &mut Vec<Book>) {
    books.sort_by(|left, right| key(left).cmp(&key(right)));
}

pub(crate) fn key(book: &Book) -> String {
    book.describe().to_lowercase()
}
