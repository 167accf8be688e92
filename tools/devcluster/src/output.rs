//! Standard output, which contains nothing but results, and messages on standard error.

use std::io::{self, Write as _};

/// Standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(crate) struct OutputError(#[from] io::Error);

impl OutputError {
    /// Returns whether standard output is a pipe whose reader has ended, such as `head`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes a text to standard output, at once.
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Writes a text and a newline to standard output, at once.
pub(crate) fn print_line(text: &str) -> Result<(), OutputError> {
    print(&format!("{text}\n"))
}

/// Prints a warning to standard error. Failure to print is ignored.
pub(crate) fn print_warning(message: &str) {
    let _ = writeln!(io::stderr(), "devcluster: warning: {message}");
}
