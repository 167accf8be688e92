//! The certificate that is presented: read from files, or made.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::{Span, tz::TimeZone};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, SanType, date_time_ymd};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::settings::CertificateFiles;

/// Why there is no certificate to serve with, or why clients' cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read or written, or does not hold what it should.
    #[error("{path}: {cause}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// What was read is of a kind that is not known, or does not go together.
    #[error("cannot serve with {what}: {cause}")]
    Use {
        /// The file, or files.
        what: String,
        /// What is wrong.
        cause: String,
    },
}

impl CertificateError {
    fn file(path: &Path, cause: &dyn ToString) -> Self {
        CertificateError::File { path: path.to_owned(), cause: cause.to_string() }
    }
}

/// A certificate with those of its authorities, and its key, as text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pem {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

/// Where the certificate is from, and how an error calls it.
#[derive(Clone)]
pub(super) enum Origin {
    Files(CertificateFiles),
    Made(Pem),
}

/// The name of a pair in `--cert-dir`, as upstream.
const PAIR: &str = "kube-controller-manager";
/// A process may live long, and so may a pair that is kept.
const YEARS: i32 = 10;

impl Origin {
    /// The files that were given; else the pair in `folder`, made if it is not there; else a pair for this run only.
    pub(super) fn new(
        files: Option<&CertificateFiles>,
        folder: Option<&Path>,
        address: IpAddr,
    ) -> Result<Self, CertificateError> {
        match (files, folder) {
            (Some(files), _) => Ok(Origin::Files(files.clone())),
            (None, Some(folder)) => kept(folder, address).map(Origin::Files),
            (None, None) => self_signed(address).map(Origin::Made),
        }
    }

    pub(super) fn read(&self) -> Result<Pem, CertificateError> {
        match self {
            Origin::Files(CertificateFiles { certificate, key }) => {
                Ok(Pem { certificate: read(certificate)?, key: read(key)? })
            }
            Origin::Made(pem) => Ok(pem.clone()),
        }
    }

    /// Certificates and key of what was read.
    pub(super) fn parse(
        &self,
        pem: &Pem,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CertificateError> {
        let made = Path::new("the certificate that was made");
        let (certificate, key) = match self {
            Origin::Files(files) => (files.certificate.as_path(), files.key.as_path()),
            Origin::Made(_) => (made, made),
        };
        let parsed = PrivateKeyDer::from_pem_slice(&pem.key);
        let parsed = parsed.map_err(|error| CertificateError::file(key, &format!("no private key in PEM: {error}")))?;
        Ok((certificates(certificate, &pem.certificate)?, parsed))
    }

    /// An error of both together.
    pub(super) fn refuse(&self, cause: &dyn ToString) -> CertificateError {
        let what = match self {
            Origin::Files(CertificateFiles { certificate, key }) => {
                format!("{} and {}", certificate.display(), key.display())
            }
            Origin::Made(_) => "the certificate that was made".to_owned(),
        };
        CertificateError::Use { what, cause: cause.to_string() }
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|error| CertificateError::file(path, &error))
}

/// The certificates in a file, one at least.
pub(super) fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(CertificateError::file(path, &"no certificate in PEM")),
        Ok(found) => Ok(found),
        Err(error) => Err(CertificateError::file(path, &format!("not in PEM: {error}"))),
    }
}

/// The pair of a folder; made, unless both of it are there.
fn kept(folder: &Path, address: IpAddr) -> Result<CertificateFiles, CertificateError> {
    let file = |extension: &str| folder.join(format!("{PAIR}.{extension}"));
    let (certificate, key) = (file("crt"), file("key"));
    if !certificate.exists() || !key.exists() {
        let made = self_signed(address)?;
        fs::create_dir_all(folder).map_err(|error| CertificateError::file(folder, &error))?;
        write(&key, &made.key, 0o600)?;
        write(&certificate, &made.certificate, 0o644)?;
    }
    Ok(CertificateFiles { certificate, key })
}

/// Replaces a file in one step, so that it is never there by half, and never with more rights than `mode`.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), CertificateError> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    // One that was left over may have other rights.
    let _ = fs::remove_file(&new);
    let file = OpenOptions::new().create_new(true).write(true).mode(mode).open(&new);
    let written = file.and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| CertificateError::file(path, &error))
}

/// A pair that nobody but ourselves vouches for: for `localhost`, 127.0.0.1 and the address listened on.
fn self_signed(address: IpAddr) -> Result<Pem, CertificateError> {
    let mut params = CertificateParams::new(["localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let loopback = IpAddr::from([127, 0, 0, 1]);
    params.subject_alt_names.push(SanType::IpAddress(loopback));
    if !address.is_unspecified() && address != loopback {
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    // Clocks that are a little behind ours must not find it invalid.
    let today = kube_ambient::now().to_zoned(TimeZone::UTC).date();
    let day = |date: jiff::civil::Date| {
        date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    };
    params.not_before = day(today.saturating_sub(Span::new().days(1)));
    params.not_after = day(today.saturating_add(Span::new().years(YEARS)));
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
    fn a_pair_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("certificates");
        let read = || Origin::new(None, Some(&folder), ADDRESS).unwrap().read().unwrap();
        let first = read();
        assert!(first == read());
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("kube-controller-manager.key"), mode("kube-controller-manager.crt")), (0o600, 0o644));
        // Half a pair is no pair.
        fs::remove_file(folder.join("kube-controller-manager.key")).unwrap();
        assert!(first != read());
    }

    #[test]
    fn files_that_are_given_win() {
        let files = CertificateFiles { certificate: "/nowhere/a.crt".into(), key: "/nowhere/a.key".into() };
        let origin = Origin::new(Some(&files), Some(Path::new("/nowhere/else")), ADDRESS).unwrap();
        assert!(matches!(origin, Origin::Files(found) if found == files));
    }

    #[test]
    fn what_is_made_is_for_this_machine_and_valid_for_years() {
        let origin = Origin::new(None, None, ADDRESS).unwrap();
        let (chain, _) = origin.parse(&origin.read().unwrap()).unwrap();
        let (_, certificate) = X509Certificate::from_der(&chain[0]).unwrap();
        let names = format!("{:?}", certificate.subject_alternative_name().unwrap().unwrap().value.general_names);
        assert_eq!(names, "[DNSName(\"localhost\"), IPAddress([127, 0, 0, 1]), IPAddress([10, 0, 0, 7])]");
        assert!(certificate.validity().is_valid());
        assert!(certificate.validity().time_to_expiration().unwrap().whole_days() > 3_600);
    }
}
