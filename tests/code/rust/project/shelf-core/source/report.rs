/// Says what happens.
macro_rules! report {
    ($($given:tt)*) => {
        println!($($given)*)
    };
}
