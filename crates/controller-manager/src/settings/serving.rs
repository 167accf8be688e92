//! Where health and metrics are served, and to whom.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// Where health and metrics are served, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServingSettings {
    /// `--bind-address`: the address listened on; an unspecified one is every interface.
    pub bind_address: IpAddr,
    /// `--secure-port`: the port; 0 for serving nothing, which is what happens unless asked for. On the command line it is
    /// 10257 by default.
    pub port: u16,
    /// `--tls-cert-file` and `--tls-private-key-file`. None for a self-signed certificate.
    pub certificate: Option<CertificateFiles>,
    /// `--cert-dir`: where a self-signed certificate is kept, as `kube-controller-manager.crt` and `.key`. None for in
    /// memory only.
    pub cert_dir: Option<PathBuf>,
    /// `--tls-min-version`: the oldest TLS spoken.
    pub min_tls_version: TlsVersion,
    /// Who asks.
    pub authentication: AuthenticationSettings,
    /// What they may.
    pub authorization: AuthorizationSettings,
}

/// A certificate and its key, both in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and after it those of the authorities up to the root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// A version of TLS that may be the oldest spoken. Older ones are broken, and no rustls speaks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// `VersionTLS12`, the default.
    #[default]
    Tls12,
    /// `VersionTLS13`.
    Tls13,
}

/// How callers are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationSettings {
    /// `--client-ca-file`: the authorities whose client certificates are believed. None for those the cluster names, in the map
    /// `extension-apiserver-authentication` of `kube-system`.
    pub client_ca_file: Option<PathBuf>,
    /// `--authentication-skip-lookup`: the cluster is not asked.
    pub skip_lookup: bool,
    /// `--authentication-tolerate-lookup-failure`: it does not matter whether it refuses.
    pub tolerate_lookup_failure: bool,
    /// `--authentication-kubeconfig`: the API server asked about tokens. None for the service account of the Pod; outside of
    /// a Pod, for treating every token as none.
    pub kubeconfig: Option<PathBuf>,
    /// `--authentication-token-webhook-cache-ttl`: how long its answers are good for.
    pub token_ttl: Duration,
}

/// What callers may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationSettings {
    /// `--authorization-kubeconfig`: the API server asked. None for the service account of the Pod; outside of a Pod, for
    /// forbidding all but [`Self::always_allow_paths`].
    pub kubeconfig: Option<PathBuf>,
    /// `--authorization-always-allow-paths`: paths open to everyone; one that ends in `*` stands for all that begin so.
    pub always_allow_paths: Vec<String>,
    /// `--authorization-webhook-cache-authorized-ttl`: how long a yes is good for.
    pub authorized_ttl: Duration,
    /// `--authorization-webhook-cache-unauthorized-ttl`: how long a no is good for.
    pub unauthorized_ttl: Duration,
}

/// The port of kube-controller-manager.
pub(crate) const PORT: u16 = 10_257;
/// How long answers about callers are good for.
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
