//! TLS: certificate authority, server certificate and client certificates.

mod authority;

pub(crate) use authority::Authority;
pub use authority::{ClientCertificate, TlsError};

use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::identity::User;

/// Returns common name and organizations of a verified client certificate; `None` without a common name.
pub(crate) fn user_of_certificate(der: &[u8]) -> Option<User> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok().filter(|name| !name.is_empty())?;
    let groups = subject.iter_organization().filter_map(|group| group.as_str().ok()).map(str::to_owned);
    Some(User { groups: groups.collect(), ..User::new(name) })
}
