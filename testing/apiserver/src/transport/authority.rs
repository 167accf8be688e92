//! Certificate authority of a server, generated on start.

use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// DNS names in the server certificate.
const NAMES: [&str; 5] =
    ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];

/// Error of generating certificates or setting up TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A key or certificate cannot be generated.
    #[error("cannot generate a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The generated certificates are rejected by rustls.
    #[error("cannot use the generated certificates")]
    Rustls(#[from] rustls::Error),
    /// Verification of client certificates cannot be set up.
    #[error("cannot set up the verification of client certificates")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// A client certificate and its private key in PEM.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCertificate {
    /// Certificate in PEM.
    pub certificate: String,
    /// Private key in PKCS #8 PEM. Not part of the `Debug` output.
    pub key: String,
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, TlsError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "kube-dev-apiserver");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// Returns the CA certificate in PEM.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Issues a client certificate with the user as common name and the group as organization.
    pub(crate) fn client(&self, user: &str, group: Option<&str>) -> Result<ClientCertificate, TlsError> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(ClientCertificate { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// Returns the TLS configuration: HTTP/2 and HTTP/1.1, optional client certificates.
    pub(crate) fn server_config(&self, address: IpAddr) -> Result<ServerConfig, TlsError> {
        let mut params = CertificateParams::new(NAMES.map(str::to_owned))?;
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for address in [IpAddr::from([127, 0, 0, 1]), IpAddr::from(std::net::Ipv6Addr::LOCALHOST), address] {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;

        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone())?;
        // Explicit, because there is no default provider if several are linked.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::*;
    use crate::transport::user_of_certificate;

    fn user(name: &str, group: Option<&str>) -> Option<(String, Vec<String>)> {
        let certificate = Authority::new().unwrap().client(name, group).unwrap();
        assert!(certificate.key.contains("PRIVATE KEY") && !format!("{certificate:?}").contains("PRIVATE"));
        let der = CertificateDer::from_pem_slice(certificate.certificate.as_bytes()).unwrap();
        user_of_certificate(&der).map(|user| (user.name, user.groups))
    }

    #[test]
    fn client_certificates_identify_their_user() {
        let long = "x".repeat(300);
        for name in ["alice", "system:kube-controller-manager", "ünïcödé", &long] {
            assert_eq!(user(name, Some("ops")), Some((name.to_owned(), vec!["ops".to_owned()])));
            assert_eq!(user(name, None), Some((name.to_owned(), Vec::new())));
        }
        assert_eq!(user("", Some("ops")), None, "a certificate without a common name has no user");
    }
}
