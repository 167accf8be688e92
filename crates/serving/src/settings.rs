//! Settings of an HTTPS server.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Address, certificate and access rules of an HTTPS server. Flags are named as in kube-controller-manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSettings {
    /// `--bind-address`: address to listen on; an unspecified address (`0.0.0.0`, `::`) is all interfaces.
    pub bind_address: IpAddr,
    /// `--secure-port`: port to listen on; 0 binds any free port.
    pub port: u16,
    /// The server's certificate and key.
    pub certificate: ServerCertificate,
    /// `--tls-min-version`: minimum TLS version; 1.2 by default.
    pub min_tls_version: TlsVersion,
    /// How clients are authenticated: by client certificate or bearer token.
    pub authentication: AuthenticationSettings,
    /// How requests are authorized: by path, group or `SubjectAccessReview`.
    pub authorization: AuthorizationSettings,
}

/// Source of the server's certificate and key. A generated certificate is self-signed, valid for 10 years, and names
/// `localhost`, 127.0.0.1 and the listening address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerCertificate {
    /// Generated for this run, in memory only; the default.
    #[default]
    Generated,
    /// `--cert-dir`: stored in these files. Generated, with their folders, unless both files exist.
    Stored(CertificateFiles),
    /// `--tls-cert-file` and `--tls-private-key-file`: read from these files, which must exist.
    Files(CertificateFiles),
}

/// A certificate and its key, both in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The server's certificate, followed by its intermediate CA certificates.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

impl CertificateFiles {
    /// Returns `FOLDER/NAME.crt` and `FOLDER/NAME.key`.
    pub fn pair(folder: &Path, name: &str) -> CertificateFiles {
        let file = |extension: &str| folder.join(format!("{name}.{extension}"));
        CertificateFiles { certificate: file("crt"), key: file("key") }
    }
}

/// Minimum TLS version. rustls implements no older versions than these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS 1.2, `VersionTLS12`; the default.
    #[default]
    Tls12,
    /// TLS 1.3, `VersionTLS13`.
    Tls13,
}

/// How clients are authenticated: by client certificate, or by bearer token with `TokenReview`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationSettings {
    /// `--client-ca-file`: CA bundle that client certificates are verified against. `None`: the one that the cluster
    /// publishes in the `ConfigMap` `kube-system/extension-apiserver-authentication`.
    pub client_ca_file: Option<PathBuf>,
    /// `--authentication-skip-lookup`: that `ConfigMap` is not read; without `client_ca_file`, client certificates are
    /// then not requested.
    pub skip_lookup: bool,
    /// `--authentication-tolerate-lookup-failure`: a 403 for that `ConfigMap` is not an error of
    /// [`Server::bind`](crate::Server::bind).
    pub tolerate_lookup_failure: bool,
    /// `--authentication-kubeconfig`: API server for `TokenReview` requests and for that `ConfigMap`, used by
    /// [`Reviewers::connect`](crate::Reviewers::connect). `None`: the service account of the Pod; outside of a Pod,
    /// bearer tokens are ignored and requests are anonymous.
    pub kubeconfig: Option<PathBuf>,
    /// `--authentication-token-webhook-cache-ttl`: time for which the result of a `TokenReview` is cached; 10 s by
    /// default.
    pub token_ttl: Duration,
}

/// How requests are authorized: by path, by group, or with `SubjectAccessReview`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationSettings {
    /// `--authorization-kubeconfig`: API server for `SubjectAccessReview` requests, used by
    /// [`Reviewers::connect`](crate::Reviewers::connect). `None`: the service account of the Pod; outside of a Pod, only
    /// [`Self::always_allow_paths`] and members of `system:masters` are authorized.
    pub kubeconfig: Option<PathBuf>,
    /// `--authorization-always-allow-paths`: paths that are served without authorization; a trailing `*` matches any
    /// suffix. `/healthz`, `/readyz` and `/livez` by default.
    pub always_allow_paths: Vec<String>,
    /// `--authorization-webhook-cache-authorized-ttl`: time for which an allowed review is cached; 10 s by default.
    pub authorized_ttl: Duration,
    /// `--authorization-webhook-cache-unauthorized-ttl`: time for which a denied review is cached; 10 s by default.
    pub unauthorized_ttl: Duration,
}

/// Default time for which results of reviews are cached.
const TTL: Duration = Duration::from_secs(10);

impl Default for ServingSettings {
    fn default() -> Self {
        ServingSettings {
            bind_address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            port: 0,
            certificate: ServerCertificate::default(),
            min_tls_version: TlsVersion::default(),
            authentication: AuthenticationSettings::default(),
            authorization: AuthorizationSettings::default(),
        }
    }
}

impl Default for AuthenticationSettings {
    fn default() -> Self {
        AuthenticationSettings {
            client_ca_file: None,
            skip_lookup: false,
            tolerate_lookup_failure: false,
            kubeconfig: None,
            token_ttl: TTL,
        }
    }
}

impl Default for AuthorizationSettings {
    fn default() -> Self {
        let always_allow_paths = ["/healthz", "/readyz", "/livez"].map(str::to_owned).to_vec();
        AuthorizationSettings { kubeconfig: None, always_allow_paths, authorized_ttl: TTL, unauthorized_ttl: TTL }
    }
}
