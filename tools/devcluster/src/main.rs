//! The binary `devcluster`.

use std::process::ExitCode;

fn main() -> ExitCode {
    devcluster::main()
}
