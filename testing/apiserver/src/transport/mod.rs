//! TLS: certificate authority, server certificate and client certificates.

mod authority;
mod subject;

pub(crate) use authority::Authority;
pub use authority::{ClientCertificate, TlsError};
pub(crate) use subject::user_of_certificate;
