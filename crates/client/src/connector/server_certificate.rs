//! Errors of the server's certificate that the message of rustls does not explain.

use std::{error::Error as StdError, io};

use tower::BoxError;

/// Error of a server whose certificate is its own certificate authority, as `openssl req -x509` makes it. Go accepts such
/// a certificate if it is among the trusted ones; rustls (webpki) never does.
#[derive(Debug, thiserror::Error)]
#[error(
    "the certificate of the server is a certificate authority (CA:TRUE) and is not accepted as a server certificate: \
     issue one with CA:FALSE"
)]
struct AuthorityAsServer {
    source: BoxError,
}

/// Explains an error of a connection, if it needs that.
pub(super) fn explain(error: BoxError) -> BoxError {
    if certificate_error(&*error).is_some_and(|error| error.to_string().contains("CaUsedAsEndEntity")) {
        return AuthorityAsServer { source: error }.into();
    }
    error
}

/// Returns the first error of a certificate in the source chain, and in the errors that `io::Error`s contain.
fn certificate_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::CertificateError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(error)) = error.downcast_ref() {
            return Some(error);
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
