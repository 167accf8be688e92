//! The book in `docs/src`: its pages as documentation, so that their samples are compiled and run by `cargo test`.

/// Each page with Rust in it.
macro_rules! pages {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $name {}
        )*
    };
}

pages! {
    simulation: "src/simulation.md",
    writing_a_controller: "src/writing-a-controller.md",
}
