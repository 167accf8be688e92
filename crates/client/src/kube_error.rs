//! Errors of the `kube` crate.

use std::error::Error;

/// Message of an error of `kube`, without a source, because `kube` repeats the message of the source in its own.
///
/// Of a message of several lines (YAML parsers print an excerpt of the file) only the first is kept.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct KubeError(String);

impl KubeError {
    pub(crate) fn new(error: &dyn Error) -> Self {
        let message = error.to_string();
        Self(message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use display_full_error::DisplayFullErrorExt as _;
    use kube::config::LoadDataError;

    use super::*;

    #[test]
    fn chain_contains_each_message_once() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "missing\n  1 | {{{{");
        let error = KubeError::new(&LoadDataError::ReadFile(missing(), "ca.crt".into()));
        assert_eq!(error.to_string_full(), "failed to read file '\"ca.crt\"': missing");
    }
}
