//! The server certificate: read from files, or generated.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::{Span, tz::TimeZone};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, SanType, date_time_ymd};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::settings::{CertificateFiles, ServerCertificate};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Why the server certificate or the CA bundle for client certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read or written, or does not contain a certificate or key in PEM.
    #[error("{path}", path = path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A self-signed certificate cannot be generated.
    #[error("cannot generate a self-signed certificate")]
    Generate(#[from] rcgen::Error),
    /// The key does not match the certificate, or an algorithm is not supported.
    #[error("cannot serve with {what}")]
    Use {
        /// Paths of the files.
        what: String,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CertificateError {
    fn file(path: &Path, source: impl Into<BoxError>) -> Self {
        CertificateError::File { path: path.to_owned(), source: source.into() }
    }
}

/// A file that does not contain what it should.
#[derive(Debug, thiserror::Error)]
#[error("{expected}")]
struct NotPem {
    expected: &'static str,
    source: pem::Error,
}

/// A certificate chain and its private key, in PEM.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Pem {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

/// Source of the server certificate.
#[derive(Clone)]
pub(crate) enum Origin {
    /// Configured files, or those of a stored pair.
    Files(CertificateFiles),
    /// A pair generated for this run, in memory only.
    Generated(Pem),
}

/// Validity of a generated certificate. It is not renewed, and a stored one outlives the process.
const VALIDITY_YEARS: i32 = 10;

impl Origin {
    /// Generates a pair for the listening address `address` if `certificate` requires it.
    pub(crate) fn new(certificate: &ServerCertificate, address: IpAddr) -> Result<Self, CertificateError> {
        match certificate {
            ServerCertificate::Generated => self_signed(address).map(Origin::Generated),
            ServerCertificate::Stored(files) => {
                generate_unless_stored(files, address)?;
                Ok(Origin::Files(files.clone()))
            }
            ServerCertificate::Files(files) => Ok(Origin::Files(files.clone())),
        }
    }

    pub(crate) fn read(&self) -> Result<Pem, CertificateError> {
        match self {
            Origin::Files(CertificateFiles { certificate, key }) => {
                Ok(Pem { certificate: read(certificate)?, key: read(key)? })
            }
            Origin::Generated(pem) => Ok(pem.clone()),
        }
    }

    pub(crate) fn parse(
        &self,
        pem: &Pem,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CertificateError> {
        let generated = Path::new("the generated certificate");
        let (certificate, key) = match self {
            Origin::Files(files) => (files.certificate.as_path(), files.key.as_path()),
            Origin::Generated(_) => (generated, generated),
        };
        let parsed = PrivateKeyDer::from_pem_slice(&pem.key);
        let not_pem = |source| CertificateError::file(key, NotPem { expected: "no private key in PEM", source });
        let parsed = parsed.map_err(not_pem)?;
        Ok((certificates(certificate, &pem.certificate)?, parsed))
    }

    pub(crate) fn unusable(&self, source: impl Into<BoxError>) -> CertificateError {
        let what = match self {
            Origin::Files(CertificateFiles { certificate, key }) => {
                format!("{} and {}", certificate.display(), key.display())
            }
            Origin::Generated(_) => "the generated certificate".to_owned(),
        };
        CertificateError::Use { what, source: source.into() }
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|error| CertificateError::file(path, error))
}

/// Parses the certificates of a PEM file; an error if there is none.
pub(crate) fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(CertificateError::file(path, "no certificate in PEM")),
        Ok(found) => Ok(found),
        Err(source) => Err(CertificateError::file(path, NotPem { expected: "not in PEM", source })),
    }
}

/// Generates the pair of `files` unless both exist.
fn generate_unless_stored(files: &CertificateFiles, address: IpAddr) -> Result<(), CertificateError> {
    let CertificateFiles { certificate, key } = files;
    if certificate.exists() && key.exists() {
        return Ok(());
    }
    let generated = self_signed(address)?;
    // A certificate without its key counts as missing: the process may end, or the disk be full, between the two
    // writes.
    match fs::remove_file(certificate) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(CertificateError::file(certificate, error)),
        _ => {}
    }
    write(key, &generated.key, 0o600)?;
    write(certificate, &generated.certificate, 0o644)
}

/// Replaces a file atomically, and creates its folder. The new file has `mode` from its creation on, so that a key is never readable by others.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), CertificateError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| CertificateError::file(folder, error))?;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    // `create_new` fails if a file is left over, and its mode may differ.
    let _ = fs::remove_file(&temporary);
    let file = OpenOptions::new().create_new(true).write(true).mode(mode).open(&temporary);
    let result = file.and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&temporary, path));
    result.map_err(|error| CertificateError::file(path, error))
}

/// Generates a self-signed certificate for `localhost`, 127.0.0.1 and the listening address, and its key.
fn self_signed(address: IpAddr) -> Result<Pem, CertificateError> {
    let mut params = CertificateParams::new(["localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let loopback = IpAddr::from([127, 0, 0, 1]);
    params.subject_alt_names.push(SanType::IpAddress(loopback));
    if !address.is_unspecified() && address != loopback {
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    // Valid from yesterday, for clients whose clock is behind.
    let today = kube_ambient::now().to_zoned(TimeZone::UTC).date();
    let day = |date: jiff::civil::Date| {
        date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    };
    params.not_before = day(today.saturating_sub(Span::new().days(1)));
    params.not_after = day(today.saturating_add(Span::new().years(VALIDITY_YEARS)));
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(Pem { certificate: certificate.pem().into_bytes(), key: key.serialize_pem().into_bytes() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use x509_parser::prelude::{FromDer as _, X509Certificate};

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7));

    #[test]
    fn generated_pair_is_stored_and_reused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("certificates");
        let files = CertificateFiles::pair(&folder, "a");
        let stored = ServerCertificate::Stored(files);
        let read = || Origin::new(&stored, ADDRESS).unwrap().read().unwrap();
        let first = read();
        assert!(first == read());
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a.key"), mode("a.crt")), (0o600, 0o644));
        // With one of the two files missing, both are generated again.
        fs::remove_file(folder.join("a.key")).unwrap();
        assert!(first != read());
    }

    #[test]
    fn generated_certificate_names_and_validity() {
        let origin = Origin::new(&ServerCertificate::Generated, ADDRESS).unwrap();
        let (chain, _) = origin.parse(&origin.read().unwrap()).unwrap();
        let (_, certificate) = X509Certificate::from_der(&chain[0]).unwrap();
        let names = format!("{:?}", certificate.subject_alternative_name().unwrap().unwrap().value.general_names);
        assert_eq!(names, "[DNSName(\"localhost\"), IPAddress([127, 0, 0, 1]), IPAddress([10, 0, 0, 7])]");
        assert!(certificate.validity().is_valid());
        assert!(certificate.validity().time_to_expiration().unwrap().whole_days() > 3_600);
    }
}
