//! A configuration that follows its files.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::{sync::watch, task::spawn_blocking, time::sleep};

use super::{
    ConfigError, one_line,
    source::{Loaded, Source},
};

/// Time between two looks at the files. client-go looks at client certificates every 5 min, and never at a kubeconfig.
const INTERVAL: Duration = Duration::from_secs(30);

/// A configuration and its present state, shared by all clients that use it.
pub(crate) struct Live {
    source: Source,
    loaded: watch::Sender<Arc<Loaded>>,
}

impl Live {
    pub(crate) fn new(source: Source) -> Result<Live, ConfigError> {
        let loaded = watch::Sender::new(Arc::new(source.load()?));
        Ok(Live { source, loaded })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.borrow())
    }

    /// The present state, and those to come.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Loaded>> {
        self.loaded.subscribe()
    }

    /// Loads the configuration again if one of its files changed, and returns whether one did. The present state remains if
    /// that fails.
    fn reload(&self) -> Result<bool, ConfigError> {
        if !self.loaded().is_outdated() {
            return Ok(false);
        }
        let loaded = self.source.load()?;
        // So that clients, which do this in the middle of a request, find it done.
        loaded.prepared(true)?;
        loaded.prepared(false)?;
        self.loaded.send_replace(Arc::new(loaded));
        Ok(true)
    }

    pub(crate) async fn follow(self: Arc<Self>) -> Infallible {
        let mut last_failure = None;
        loop {
            sleep(INTERVAL).await;
            let live = Arc::clone(&self);
            // A credential plugin may take its time.
            let reloaded = spawn_blocking(move || live.reload()).await;
            let failure = match reloaded {
                Ok(Ok(false)) => continue,
                Ok(Ok(true)) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(one_line(&error)),
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
            last_failure = failure;
        }
    }
}
