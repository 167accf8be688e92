//! Settings of the HTTPS server for health checks and metrics.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// Address, certificate and access rules of the HTTPS server for health checks and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSettings {
    /// `--bind-address`: address to listen on; an unspecified address (`0.0.0.0`, `::`) is all interfaces.
    pub bind_address: IpAddr,
    /// `--secure-port`: port to listen on. 0, the default, disables serving; the default of the command line is 10257.
    pub port: u16,
    /// `--tls-cert-file` and `--tls-private-key-file`. `None`: a self-signed certificate is generated.
    pub certificate: Option<CertificateFiles>,
    /// `--cert-dir`: directory in which a self-signed certificate is stored, as `kube-controller-manager.crt` and
    /// `.key`, and found again after a restart. `None`: in memory only.
    pub cert_dir: Option<PathBuf>,
    /// `--tls-min-version`: minimum TLS version; 1.2 by default.
    pub min_tls_version: TlsVersion,
    /// How clients are authenticated: by client certificate or bearer token.
    pub authentication: AuthenticationSettings,
    /// How requests are authorized: by path, group or `SubjectAccessReview`.
    pub authorization: AuthorizationSettings,
}

/// A certificate and its key, both in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The server's certificate, followed by its intermediate CA certificates.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
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
    /// `--authentication-tolerate-lookup-failure`: a 403 for that `ConfigMap` does not end the process.
    pub tolerate_lookup_failure: bool,
    /// `--authentication-kubeconfig`: API server for `TokenReview` requests and for that `ConfigMap`. `None`: the
    /// service account of the Pod; outside of a Pod, bearer tokens are ignored and requests are anonymous.
    pub kubeconfig: Option<PathBuf>,
    /// `--authentication-token-webhook-cache-ttl`: time for which the result of a `TokenReview` is cached; 10 s by
    /// default.
    pub token_ttl: Duration,
}

/// How requests are authorized: by path, by group, or with `SubjectAccessReview`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationSettings {
    /// `--authorization-kubeconfig`: API server for `SubjectAccessReview` requests. `None`: the service account of the
    /// Pod; outside of a Pod, only [`Self::always_allow_paths`] and members of `system:masters` are authorized.
    pub kubeconfig: Option<PathBuf>,
    /// `--authorization-always-allow-paths`: paths that are served without authorization; a trailing `*` matches any
    /// suffix.
    pub always_allow_paths: Vec<String>,
    /// `--authorization-webhook-cache-authorized-ttl`: time for which an allowed review is cached; 10 s by default.
    pub authorized_ttl: Duration,
    /// `--authorization-webhook-cache-unauthorized-ttl`: time for which a denied review is cached; 10 s by default.
    pub unauthorized_ttl: Duration,
}

/// Default of `--secure-port`, that of kube-controller-manager.
pub(crate) const PORT: u16 = 10_257;
/// Default time for which results of reviews are cached.
const TTL: Duration = Duration::from_secs(10);

impl Default for ServingSettings {
    fn default() -> Self {
        ServingSettings {
            bind_address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            port: 0,
            certificate: None,
            cert_dir: None,
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
