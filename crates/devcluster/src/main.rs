//! One command to see the endpoint controllers work.

fn main() {}
