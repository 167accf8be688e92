//! A configuration that is reloaded when its files change.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use display_full_error::DisplayFullErrorExt as _;
use tokio::{
    sync::{Mutex, watch},
    task::spawn_blocking,
    time::sleep,
};

use super::{
    error::ConfigError,
    source::{Files, Loaded, Origin},
};
use crate::Credentials;

/// Interval between two checks of the files. client-go checks client certificates every 5 min and never a kubeconfig.
const INTERVAL: Duration = Duration::from_secs(30);

/// Least interval between two runs of a credential plugin after responses 401, below the renew deadline of a Lease (10 s).
/// client-go has none.
const PLUGIN_INTERVAL: Duration = Duration::from_secs(5);

/// The origin of a configuration and what was last loaded from it, shared by all clients of the configuration.
pub(crate) struct Live {
    origin: Origin,
    loaded: watch::Sender<Arc<Loaded>>,
    /// State of the credentials that were loaded; service accounts have their own.
    pub(super) credentials: Credentials,
    /// Held by the one future that follows the files, although all users of the configuration may.
    following: Mutex<()>,
}

impl Live {
    pub(super) fn new(origin: Origin) -> Result<Live, ConfigError> {
        let loaded = origin.load()?;
        Ok(Live::with(origin, loaded))
    }

    fn with(origin: Origin, loaded: Loaded) -> Live {
        let loaded = watch::Sender::new(Arc::new(loaded));
        Live { origin, loaded, credentials: Credentials::default(), following: Mutex::default() }
    }

    /// Returns a configuration without files, which never changes.
    pub(super) fn fixed(inner: kube::Config) -> Live {
        let origin = Origin::Kube(Arc::new(inner.clone()));
        Live::with(origin, Loaded::new(inner, Files::read([])))
    }

    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.borrow())
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Loaded>> {
        self.loaded.subscribe()
    }

    /// Reloads the configuration if one of its files changed, or if the server rejects what its credential plugin has
    /// returned, and returns whether. An error changes nothing.
    fn reload(&self) -> Result<bool, ConfigError> {
        let loaded = self.loaded();
        let is_rejected = loaded.has_plugin() && self.credentials.rejected_since().is_some();
        if !is_rejected && !loaded.is_outdated() {
            return Ok(false);
        }
        let loaded = self.origin.load()?;
        // Fails here rather than in the middle of a request, and keeps blocking file and plugin I/O off the runtime.
        loaded.prepared(true)?;
        loaded.prepared(false)?;
        self.loaded.send_replace(Arc::new(loaded));
        Ok(true)
    }

    /// Reloads the configuration when it is outdated. Of several such futures, one does.
    pub(crate) async fn follow(self: Arc<Self>) -> Infallible {
        let _following = self.following.lock().await;
        let loaded = self.loaded();
        if !loaded.has_files() && !loaded.has_plugin() {
            return pending().await;
        }
        drop(loaded);
        let (mut last_failure, mut pause) = (None, Duration::ZERO);
        loop {
            let check = sleep(INTERVAL);
            sleep(pause).await;
            tokio::select! {
                biased;
                () = self.credentials.next_rejection(), if self.loaded().has_plugin() => {}
                () = check => {}
            }
            pause = Duration::ZERO;
            let live = Arc::clone(&self);
            // Reads files and may run a credential plugin.
            let reloaded = spawn_blocking(move || live.reload()).await;
            let failure = match reloaded {
                Ok(Ok(false)) => continue,
                Ok(Ok(true)) => None,
                Ok(Err(error)) => Some(error.to_string_full()),
                Err(error) => Some(error.to_string()),
            };
            match &failure {
                None => tracing::info!(
                    server = %self.loaded().inner.cluster_url,
                    "Client configuration was read again, connections are replaced"
                ),
                Some(err) if failure != last_failure => {
                    tracing::warn!(err, "Changed client configuration cannot be used, keeping the one before");
                }
                Some(_) => {}
            }
            (last_failure, pause) = (failure, PLUGIN_INTERVAL);
        }
    }
}
