//! The TLS configuration of the server, reloaded when certificates change.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use rustls::crypto::ring;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::authorities::Authorities;
use crate::certificate::{self, BoxError, CertificateError, Origin, Pem};
use crate::settings::{ServingSettings, TlsVersion};

/// Interval of reloads of files and of the cluster's CA bundle. Upstream polls files every minute.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);
/// Interval of reloads until the first lookup of the cluster's CA bundle succeeds.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The current TLS configuration and its sources.
pub(crate) struct Tls {
    origin: Origin,
    minimum: TlsVersion,
    authorities: Authorities,
    current: RwLock<(Material, Arc<ServerConfig>)>,
    ca_changes: watch::Sender<()>,
}

/// Contents of all sources, compared to detect changes.
#[derive(Clone, PartialEq, Eq)]
struct Material {
    pem: Pem,
    authorities: Option<Vec<u8>>,
}

impl Tls {
    /// Loads the certificate or generates one for the listening address.
    pub(crate) fn new(settings: &ServingSettings, authorities: Authorities) -> Result<Self, CertificateError> {
        let origin = Origin::new(&settings.certificate, settings.bind_address)?;
        let minimum = settings.min_tls_version;
        let current = load(&origin, minimum, &authorities, None)?;
        // Without previous material, `load` never returns `None`.
        let current = current.ok_or_else(|| origin.unusable("nothing was read"))?;
        Ok(Self { origin, minimum, authorities, current: RwLock::new(current), ca_changes: watch::Sender::new(()) })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).1))
    }

    /// Returns a receiver that changes whenever the CA bundle for client certificates does.
    pub(crate) fn ca_changes(&self) -> watch::Receiver<()> {
        self.ca_changes.subscribe()
    }

    /// Reloads files and the cluster's CA bundle periodically. Errors are logged and change nothing.
    pub(crate) async fn reload_periodically(self: Arc<Self>) {
        loop {
            sleep(if self.authorities.are_pending() { RETRY_INTERVAL } else { RELOAD_INTERVAL }).await;
            Arc::clone(&self).reload().await;
        }
    }

    pub(crate) async fn reload(self: Arc<Self>) {
        self.authorities.reload().await;
        match spawn_blocking(move || self.load_changes()).await {
            Ok(Ok(true)) => tracing::info!("Reloaded certificates"),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => {
                tracing::warn!(
                    err = %error.display_full(),
                    "Unable to use changed certificates, the previous ones stay in use"
                );
            }
            Err(error) => tracing::warn!(err = %error, "The task that reloads certificates failed"),
        }
    }

    /// Reads all sources; returns whether the configuration changed.
    fn load_changes(&self) -> Result<bool, CertificateError> {
        let before = self.current.read().unwrap_or_else(PoisonError::into_inner).0.clone();
        let loaded = load(&self.origin, self.minimum, &self.authorities, Some(&before))?;
        let Some(loaded) = loaded else { return Ok(false) };
        let ca_changed = loaded.0.authorities != before.authorities;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        if ca_changed {
            self.ca_changes.send_replace(());
        }
        Ok(true)
    }
}

/// Reads all sources and builds the configuration; `None` if the contents equal `before`.
fn load(
    origin: &Origin,
    minimum: TlsVersion,
    authorities: &Authorities,
    before: Option<&Material>,
) -> Result<Option<(Material, Arc<ServerConfig>)>, CertificateError> {
    let pem = origin.read()?;
    let material = Material { pem, authorities: authorities.read()? };
    if before == Some(&material) {
        return Ok(None);
    }
    let (chain, key) = origin.parse(&material.pem)?;
    // Explicit: rustls has no default provider if the process links more than one.
    let provider = Arc::new(ring::default_provider());
    let versions: &[&SupportedProtocolVersion] = match minimum {
        TlsVersion::Tls12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
        TlsVersion::Tls13 => &[&rustls::version::TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions);
    let builder = builder.map_err(|error| origin.unusable(error))?;
    let builder = match material.authorities.as_deref() {
        None => builder.with_no_client_auth(),
        Some(pem) => builder.with_client_cert_verifier(verifier(authorities.path(), pem)?),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| origin.unusable(error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // Sessions are not resumed: their state takes memory, and a client certificate would not be verified again.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Some((material, Arc::new(config))))
}

/// Returns a verifier for client certificates: optional, but must chain to the CA bundle `pem` if presented.
fn verifier(path: &Path, pem: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, CertificateError> {
    let unusable =
        |source: BoxError| CertificateError::Use { what: format!("the authorities in {}", path.display()), source };
    let mut roots = RootCertStore::empty();
    for root in certificate::certificates(path, pem)? {
        roots.add(root).map_err(|error| unusable(error.into()))?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    verifier.allow_unauthenticated().build().map_err(|error| unusable(error.into()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair};
    use rstest::rstest;
    use tempfile::TempDir;

    use super::*;
    use crate::settings::{CertificateFiles, ServerCertificate};

    /// Writes a new certificate and key.
    fn renew(folder: &Path) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        fs::write(folder.join("a.crt"), certificate.pem()).unwrap();
        fs::write(folder.join("a.key"), key.serialize_pem()).unwrap();
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        renew(folder.path());
        folder
    }

    fn tls(folder: &Path, client_ca: Option<&str>) -> Result<Tls, CertificateError> {
        let pair = CertificateFiles::pair(folder, "a");
        let settings = ServingSettings { certificate: ServerCertificate::Files(pair), ..ServingSettings::default() };
        let authorities = client_ca.map_or(Authorities::None, |name| Authorities::File(folder.join(name)));
        Tls::new(&settings, authorities)
    }

    #[test]
    fn changed_files_are_reloaded_and_invalid_ones_ignored() {
        let folder = folder();
        let tls = tls(folder.path(), Some("a.crt")).unwrap();
        let current = || Arc::clone(&tls.current.read().unwrap().1);
        let first = current();
        assert!(!tls.load_changes().unwrap());
        renew(folder.path());
        assert!(tls.load_changes().unwrap());
        let second = current();
        assert!(!Arc::ptr_eq(&first, &second));
        fs::write(folder.path().join("a.crt"), "half a cert").unwrap();
        assert!(tls.load_changes().is_err());
        assert!(Arc::ptr_eq(&second, &current()));
        renew(folder.path());
        assert!(tls.load_changes().unwrap());
    }

    /// The certificate cannot be written, as on a full disk, when its key is written already.
    #[test]
    fn half_of_a_stored_pair_is_generated_again() {
        let folder = folder();
        let certificate = ServerCertificate::Stored(CertificateFiles::pair(folder.path(), "a"));
        let settings = ServingSettings { certificate, ..ServingSettings::default() };
        let (key, obstacle) = (folder.path().join("a.key"), folder.path().join("a.crt.new"));
        fs::remove_file(key).unwrap();
        fs::create_dir(&obstacle).unwrap();
        assert!(Tls::new(&settings, Authorities::None).is_err());
        fs::remove_dir(&obstacle).unwrap();
        Tls::new(&settings, Authorities::None).unwrap();
    }

    /// Cases: file, its content (`None`: missing), and the expected error after the path of the folder.
    #[rstest]
    #[case::no_certificate("a.crt", None, "a.crt: No such file")]
    #[case::no_key("a.key", None, "a.key: No such file")]
    #[case::empty_certificate("a.crt", Some("nothing"), "a.crt: no certificate in PEM")]
    #[case::broken_certificate("a.crt", Some("-----BEGIN CERTIFICATE-----\n"), "a.crt: not in PEM")]
    #[case::empty_key("a.key", Some("nothing"), "a.key: no private key in PEM")]
    #[case::no_authority("ca.crt", None, "ca.crt: No such file")]
    #[case::empty_authority("ca.crt", Some("nothing"), "ca.crt: no certificate in PEM")]
    fn errors_name_the_file(#[case] name: &str, #[case] content: Option<&str>, #[case] expect: &str) {
        let folder = folder();
        let file = folder.path().join(name);
        match content {
            Some(content) => fs::write(file, content).unwrap(),
            None => drop(fs::remove_file(file)),
        }
        let error = tls(folder.path(), name.starts_with("ca").then_some(name)).err().unwrap().to_string_full();
        let expect = format!("{}/{expect}", folder.path().display());
        assert!(error.starts_with(&expect), "{error}");
    }

    #[test]
    fn mismatched_key_is_rejected() {
        let (folder, other) = (folder(), folder());
        fs::copy(other.path().join("a.key"), folder.path().join("a.key")).unwrap();
        let error = tls(folder.path(), None).err().unwrap().to_string_full();
        assert!(error.starts_with("cannot serve with ") && error.contains("a.crt and "), "{error}");
    }
}
