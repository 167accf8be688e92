//! Errors of the `kube` crate.

use std::error::Error;

use tower::BoxError;

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

    /// Replaces an error of a request if it is one of a credential plugin.
    pub(crate) fn replace(error: BoxError) -> BoxError {
        error.downcast::<kube::client::AuthError>().map_or_else(|other| other, |error| Self::new(&*error).into())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use display_full_error::DisplayFullErrorExt as _;
    use kube::{client::AuthError, config::LoadDataError};

    use super::*;

    #[test]
    fn chain_contains_each_message_once() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "missing\n  1 | {{{{");
        let error = KubeError::new(&LoadDataError::ReadFile(missing(), "ca.crt".into()));
        assert_eq!(error.to_string_full(), "failed to read file '\"ca.crt\"': missing");
        let error = KubeError::replace(AuthError::AuthExecStart(missing()).into());
        assert_eq!(error.to_string_full(), "unable to run auth exec: missing");
        assert_eq!(KubeError::replace(missing().into()).to_string(), missing().to_string());
    }
}
