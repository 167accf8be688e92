//! Child processes and their logs.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
};

use anyhow::{Context as _, Result};
use tokio::process::{Child, Command};

/// Starts a program with additional environment variables, in the directory `files`, which receives its output as
/// `NAME.log`. Dropping the child kills it.
pub(crate) fn spawn(
    program: &Path,
    name: &str,
    arguments: &[String],
    variables: &[(&str, &Path)],
    files: &Path,
) -> Result<Child> {
    let log = File::create(files.join(format!("{name}.log")))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(files)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    command.kill_on_drop(true).spawn().with_context(|| format!("cannot run {}", program.display()))
}

/// Returns the last 20 lines of the output of a process.
pub(crate) fn end_of_log(files: &Path, name: &str) -> String {
    let log = fs::read(files.join(format!("{name}.log"))).unwrap_or_default();
    let log = String::from_utf8_lossy(&log).into_owned();
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
