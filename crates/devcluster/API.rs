// Public API, listed by docs/tests/it/api.rs.

// crate

#[must_use]
pub fn main() -> ExitCode {}
