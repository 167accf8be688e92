//! Includes pages of the book in `docs/src` as documentation, so that `cargo test` compiles and runs their samples.

/// Declares one documented module for each page that contains Rust code.
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
    kube_operators: "src/kube-operators.md",
    simulation: "src/simulation.md",
    slice_consumers: "src/slice-consumers.md",
    testing_an_operator: "src/testing-an-operator.md",
    writing_a_controller: "src/writing-a-controller.md",
}
