//! The program `controller-manager`, built with the features of these tests and by the same command.

use std::process::ExitCode;

#[path = "../../../../crates/controller-manager/src/main.rs"]
mod program;

fn main() -> ExitCode {
    program::main()
}
