//! CA bundle for client certificates: from a file, or from the cluster.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, Error};
use tokio::time::timeout;

use crate::ServingError;
use crate::certificate::{self, CertificateError};
use crate::settings::AuthenticationSettings;

// The `ConfigMap` in which the API server publishes the CA bundle for its own clients.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const KEY: &str = "client-ca-file";
/// Name of the looked-up bundle in errors.
const BUNDLE_NAME: &str = "client-ca-file of ConfigMap kube-system/extension-apiserver-authentication";

/// Time limit of the first lookup: short, because health checks are served only afterwards.
const FIRST_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit of later lookups.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Source of the CA bundle.
#[derive(Debug)]
pub(crate) enum Authorities {
    /// No bundle: client certificates are not requested.
    None,
    File(PathBuf),
    Cluster(Lookup),
}

impl Authorities {
    /// Returns the source: the configured file; else the cluster, looked up once before returning. No bundle with
    /// `skip_lookup` or without a client.
    ///
    /// A failed lookup is logged and repeated later. Upstream ends the process instead.
    ///
    /// # Errors
    ///
    /// [`ServingError::Lookup`] if the API server answers 403, unless `tolerate_lookup_failure` is set.
    pub(crate) async fn new(
        settings: &AuthenticationSettings,
        client: Option<&Client>,
    ) -> Result<Authorities, ServingError> {
        match (&settings.client_ca_file, client) {
            (Some(file), _) => Ok(Authorities::File(file.clone())),
            (None, _) if settings.skip_lookup => Ok(Authorities::None),
            (None, None) => {
                tracing::warn!(
                    "No authentication-kubeconfig provided in order to look up {KEY} in configmap/{NAME} in {NAMESPACE}, \
                     so client certificate authentication won't work"
                );
                Ok(Authorities::None)
            }
            (None, Some(client)) => {
                let lookup = Lookup { client: client.clone(), bundle: Mutex::default() };
                match lookup.fetch_within(FIRST_TIMEOUT).await {
                    Err(error) if error.is_forbidden() && !settings.tolerate_lookup_failure => {
                        Err(ServingError::Lookup(error))
                    }
                    _ => Ok(Authorities::Cluster(lookup)),
                }
            }
        }
    }

    /// Repeats the lookup if the source is the cluster. If it fails, the bundle found last stays in use.
    pub(crate) async fn reload(&self) {
        if let Authorities::Cluster(lookup) = self {
            // A failure has been logged.
            let _ = lookup.fetch_within(RELOAD_TIMEOUT).await;
        }
    }

    /// Returns whether the source is the cluster and no lookup has succeeded yet.
    pub(crate) fn are_pending(&self) -> bool {
        matches!(self, Authorities::Cluster(lookup) if lookup.bundle().is_none())
    }

    /// Returns the bundle in PEM; `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, CertificateError> {
        match self {
            Authorities::None => Ok(None),
            Authorities::File(path) => certificate::read(path).map(Some),
            Authorities::Cluster(lookup) => Ok(lookup.bundle().filter(|pem| !pem.is_empty()).map(String::into_bytes)),
        }
    }

    /// Returns the path or name of the bundle for errors.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Authorities::File(path) => path,
            Authorities::None | Authorities::Cluster(_) => Path::new(BUNDLE_NAME),
        }
    }
}

fn warn(error: &dyn std::fmt::Display) {
    tracing::warn!(err = %error, "Unable to look up {BUNDLE_NAME}, the last known CA bundle, if any, stays in use");
}

/// Looks up the CA bundle in the cluster, and keeps the last result.
#[derive(Debug)]
pub(crate) struct Lookup {
    client: Client,
    /// The bundle in PEM, empty if the cluster publishes none. `None` before the first successful lookup.
    bundle: Mutex<Option<String>>,
}

impl Lookup {
    /// Looks the bundle up, and logs a failure. Without an answer in time, that is no error.
    async fn fetch_within(&self, limit: Duration) -> Result<(), Error> {
        let Ok(result) = timeout(limit, self.fetch()).await else {
            warn(&"no answer in time");
            return Ok(());
        };
        result.inspect_err(|error| warn(&error.display_full()))
    }

    async fn fetch(&self) -> Result<(), Error> {
        let bundle = match self.client.get::<ConfigMap>(NAMESPACE, NAME).await {
            Ok(map) => map.data.and_then(|mut data| data.remove(KEY)).unwrap_or_default().trim().to_owned(),
            Err(error) if error.is_not_found() => String::new(),
            Err(error) => return Err(error),
        };
        match certificate::certificates(Path::new(BUNDLE_NAME), bundle.as_bytes()) {
            // Not an error: an invalid bundle must not prevent the reload of a changed server certificate.
            Err(error) if !bundle.is_empty() => warn(&error.display_full()),
            _ => *self.bundle.lock().unwrap_or_else(PoisonError::into_inner) = Some(bundle),
        }
        Ok(())
    }

    fn bundle(&self) -> Option<String> {
        self.bundle.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
