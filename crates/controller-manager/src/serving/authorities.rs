//! Whose client certificates are believed: the authorities in a file, or those the cluster names.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, Error};
use tokio::time::timeout;

use super::ServingError;
use super::certificate::{self, CertificateError};
use crate::settings::AuthenticationSettings;

/// Where the API server publishes with what it knows its own clients.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const KEY: &str = "client-ca-file";
/// How errors call it.
const LOOKED_UP: &str = "client-ca-file of ConfigMap kube-system/extension-apiserver-authentication";

/// How long the first answer is waited for: an API server that is away keeps nobody from asking how we are.
const FIRST: Duration = Duration::from_secs(2);
/// How long later ones are.
const LATER: Duration = Duration::from_secs(10);

/// Where the authorities are from.
#[derive(Debug)]
pub(super) enum Authorities {
    /// No client certificate is believed.
    Nobody,
    File(PathBuf),
    Cluster(Lookup),
}

impl Authorities {
    /// The file that was given, else the cluster's, unless it is not to be asked or there is nobody to ask.
    ///
    /// An API server that is away is asked again later. One that refuses is an error, unless that is to be tolerated:
    /// upstream would let both end the process.
    pub(super) async fn new(
        settings: &AuthenticationSettings,
        client: Option<&Client>,
    ) -> Result<Authorities, ServingError> {
        match (&settings.client_ca_file, client) {
            (Some(file), _) => Ok(Authorities::File(file.clone())),
            (None, _) if settings.skip_lookup => Ok(Authorities::Nobody),
            (None, None) => {
                tracing::warn!(
                    "No authentication-kubeconfig provided in order to look up {KEY} in configmap/{NAME} in {NAMESPACE}, \
                     so client certificate authentication won't work"
                );
                Ok(Authorities::Nobody)
            }
            (None, Some(client)) => {
                let lookup = Lookup { client: client.clone(), found: Mutex::default() };
                match timeout(FIRST, lookup.ask()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) if error.is_forbidden() && !settings.tolerate_lookup_failure => {
                        return Err(ServingError::Lookup(error));
                    }
                    Ok(Err(error)) => warn(&error),
                    Err(_) => warn(&"no answer in time"),
                }
                Ok(Authorities::Cluster(lookup))
            }
        }
    }

    /// Asks the cluster again, if that is where they are from. What was found last stays when there is no answer.
    pub(super) async fn look_again(&self) {
        let Authorities::Cluster(lookup) = self else { return };
        match timeout(LATER, lookup.ask()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn(&error),
            Err(_) => warn(&"no answer in time"),
        }
    }

    /// Whether the cluster is to be asked and has not answered yet.
    pub(super) fn are_awaited(&self) -> bool {
        matches!(self, Authorities::Cluster(lookup) if matches!(lookup.found(), Found::Nothing))
    }

    /// The certificates, in PEM; nothing, where none are to be believed.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, CertificateError> {
        match self {
            Authorities::Nobody => Ok(None),
            Authorities::File(path) => certificate::read(path).map(Some),
            Authorities::Cluster(lookup) => Ok(match lookup.found() {
                Found::Authorities(pem) => Some(pem.into_bytes()),
                Found::Nothing | Found::Nobody => None,
            }),
        }
    }

    /// How errors call them.
    pub(super) fn path(&self) -> &Path {
        match self {
            Authorities::File(path) => path,
            Authorities::Nobody | Authorities::Cluster(_) => Path::new(LOOKED_UP),
        }
    }
}

fn warn(error: &dyn std::fmt::Display) {
    tracing::warn!(err = %error, "Unable to look up {LOOKED_UP}, client certificates are treated as before");
}

/// Asks the cluster.
#[derive(Debug)]
pub(super) struct Lookup {
    client: Client,
    found: Mutex<Found>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Found {
    /// There has been no answer.
    #[default]
    Nothing,
    /// The cluster names none.
    Nobody,
    Authorities(String),
}

impl Lookup {
    async fn ask(&self) -> Result<(), Error> {
        let found = match self.client.get::<ConfigMap>(NAMESPACE, NAME).await {
            Ok(map) => map.data.and_then(|mut data| data.remove(KEY)).filter(|pem| !pem.trim().is_empty()),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        let found = match found {
            None => Found::Nobody,
            // What cannot be used must not keep what else has changed from being used.
            Some(pem) => match certificate::certificates(Path::new(LOOKED_UP), pem.as_bytes()) {
                Ok(_) => Found::Authorities(pem),
                Err(error) => {
                    warn(&error);
                    return Ok(());
                }
            },
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }

    fn found(&self) -> Found {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
