//! Loading of a configuration: from a kubeconfig, the service account of the Pod, or a URL.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use http::{Uri, uri::Scheme};
use kube::config::AuthInfo;
use tower::BoxError;

use super::{error::ConfigError, kubeconfig::KubeconfigFiles};
use crate::{kube_error::KubeError, prepared::Prepared};

#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Kubeconfig(Box<KubeconfigFiles>),
    /// Configuration of `kube`, or one without files.
    Kube(Arc<kube::Config>),
    InCluster,
}

/// A loaded configuration. [`Prepared`] state is created on first use.
pub(crate) struct Loaded {
    pub(crate) inner: kube::Config,
    files: Files,
    own: OnceLock<Prepared>,
    anonymous: OnceLock<Prepared>,
}

/// Contents of files by path; `None` for a file that cannot be read.
#[derive(PartialEq, Eq)]
pub(super) struct Files(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Files {
    pub(super) fn read<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Files {
        Files(paths.into_iter().map(|path| (path.to_owned(), fs::read(path).ok())).collect())
    }

    /// Reads the certificate and key of a user, which `kube` reads each time a TLS configuration is made. Token files are
    /// excluded: [`TokenFile`](crate::token_file::TokenFile) reloads them without new connections.
    pub(super) fn of_user(user: &AuthInfo) -> Files {
        Files::read([&user.client_certificate, &user.client_key].into_iter().flatten().map(Path::new))
    }

    pub(super) fn extend(&mut self, other: Files) {
        self.0.extend(other.0);
    }
}

impl Origin {
    /// Loads the configuration. Client certificates and keys are read by [`Loaded::prepared`].
    pub(super) fn load(&self) -> Result<Loaded, ConfigError> {
        let (inner, files) = match self {
            Origin::Kubeconfig(files) => files.load()?,
            Origin::Kube(config) => load_kube(config)?,
            Origin::InCluster => load_in_cluster().map_err(|source| ConfigError::InCluster { source })?,
        };
        Ok(Loaded::new(inner, files))
    }
}

/// Parses a server address; `scheme` is the default scheme.
pub(super) fn parse_server_address(url: &str, scheme: &Scheme) -> Result<Uri, ConfigError> {
    let invalid = |source: BoxError| ConfigError::Server { url: url.to_owned(), source };
    let full = if url.contains("://") { url.to_owned() } else { format!("{scheme}://{url}") };
    let address: Uri = full.parse().map_err(|error: http::uri::InvalidUri| invalid(error.into()))?;
    match (address.scheme_str(), address.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(address),
        _ => Err(invalid("neither http nor https".into())),
    }
}

/// A configuration, with the `proxy-url` of a kubeconfig only, and the contents of its files.
pub(super) type Parsed = (kube::Config, Files);

fn load_kube(config: &kube::Config) -> Result<Parsed, ConfigError> {
    let url = config.cluster_url.to_string();
    parse_server_address(&url, &Scheme::HTTPS)?;
    check_certificate_authority(config).map_err(|source| ConfigError::Server { url, source: source.into() })?;
    let mut files = Files::read(config.root_cert_file.as_deref());
    files.extend(Files::of_user(&config.auth_info));
    Ok((config.clone(), files))
}

fn load_in_cluster() -> Result<Parsed, BoxError> {
    let load = || kube::Config::incluster().map_err(|error| KubeError::new(&error));
    // The path of the certificate authority comes from the configuration, which is therefore loaded twice: the contents
    // to compare with must be read before the configuration that is used.
    let files = Files::read(load()?.root_cert_file.iter().map(PathBuf::as_path));
    let mut inner = load()?;
    check_certificate_authority(&inner)?;
    inner.cluster_url = with_port(&inner.cluster_url)?;
    Ok((inner, files))
}

/// Returns the address of a Pod's API server with its port, as in the label `host` of client-go's metrics. `kube` leaves
/// out 443.
fn with_port(address: &Uri) -> Result<Uri, http::Error> {
    let mut parts = address.clone().into_parts();
    if let Some(authority) = parts.authority.take_if(|it| it.port().is_none()) {
        parts.authority = Some(format!("{authority}:443").parse()?);
    }
    Ok(Uri::from_parts(parts)?)
}

/// Rejects a certificate authority file without certificates: it may be about to be written.
pub(super) fn check_certificate_authority(config: &kube::Config) -> Result<(), &'static str> {
    match &config.root_cert {
        Some(certificates) if certificates.is_empty() => Err("certificate-authority has no certificate"),
        _ => Ok(()),
    }
}

impl Loaded {
    pub(super) fn new(inner: kube::Config, files: Files) -> Loaded {
        Loaded { inner, files, own: OnceLock::new(), anonymous: OnceLock::new() }
    }

    pub(super) fn has_files(&self) -> bool {
        !self.files.0.is_empty()
    }

    /// Whether the credentials are those of a credential plugin.
    pub(super) fn has_plugin(&self) -> bool {
        self.inner.auth_info.exec.is_some()
    }

    /// Whether the content of a file has changed since it was loaded.
    pub(crate) fn is_outdated(&self) -> bool {
        self.files != Files::read(self.files.0.keys().map(PathBuf::as_path))
    }

    /// Returns what connections are created with: the credentials of the configuration (`own`), or none. The first call
    /// reads certificates and keys and runs the credential plugin.
    pub(crate) fn prepared(&self, own: bool) -> Result<&Prepared, ConfigError> {
        let slot = if own { &self.own } else { &self.anonymous };
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let connection_error = |source| ConfigError::Connection { server: self.inner.cluster_url.to_string(), source };
        let prepared = if own {
            Prepared::new(&self.inner)
        } else {
            let mut anonymous = self.inner.clone();
            anonymous.auth_info = AuthInfo::default();
            Prepared::new(&anonymous)
        };
        let prepared = prepared.map_err(connection_error)?;
        Ok(slot.get_or_init(|| prepared))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // client-go: `net.JoinHostPort` in `rest.InClusterConfig`
    #[rstest]
    #[case::default_port("https://10.96.0.1", "https://10.96.0.1:443/")]
    #[case::ipv6("https://[fd00::1]", "https://[fd00::1]:443/")]
    #[case::another_port("https://[fd00::1]:6443", "https://[fd00::1]:6443/")]
    fn an_address_in_a_pod_has_its_port(#[case] address: Uri, #[case] expected: &str) {
        assert_eq!(with_port(&address).unwrap().to_string(), expected);
    }
}
