//! The program `slice-conformance`: tests controllers of EndpointSlices and Endpoints. See `--help`.

mod arguments;
mod run;

use std::process::ExitCode;

use clap::Parser as _;

#[tokio::main]
async fn main() -> ExitCode {
    match run::run(arguments::Arguments::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("slice-conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}
