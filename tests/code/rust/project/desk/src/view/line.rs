use shelf_core::book;

pub struct Line {
    text: String,
}

impl Line {
    pub fn of(book: &book::Book) -> Line {
        Line { text: book.describe() }
    }

    pub fn text(&self) -> String {
        self.text.clone()
    }

    pub fn show(&self) {
        println!("{}", self.text());
    }
}

#[cfg(test)]
mod tests {
    use super::Line;
    use shelf_core::Book;

    #[test]
    fn a_line_is_the_book() {
        assert_eq!(Line::of(&Book::new("Emma")).text(), "Emma");
    }
}
