//! Transport security: a certificate authority of the server's own, its certificate, and those of its clients.

mod authority;
mod subject;

pub(crate) use authority::Authority;
pub use authority::{ClientCertificate, TlsError};
pub(crate) use subject::user_of_certificate;
