//! The endpoint controllers of Kubernetes as one program.

fn main() {}
