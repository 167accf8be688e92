//! Waiting for caches.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::HandlerHandle;

/// Not everything synced in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not synced within {within:?}: {}", missing.join(", "))]
pub struct NotSynced {
    /// What is missing, by [`HandlerHandle::name`].
    pub missing: Vec<String>,
    /// How long was waited.
    pub within: Duration,
}

/// Waits until all handlers have heard of everything that was there at first.
pub async fn wait_for_sync<'a>(
    handlers: impl IntoIterator<Item = &'a HandlerHandle>,
    within: Duration,
) -> Result<(), NotSynced> {
    let handlers: Vec<_> = handlers.into_iter().collect();
    let all = async {
        for handler in &handlers {
            handler.synced().await;
        }
    };
    // Whether in time or not, what counts is who has synced.
    let _ = timeout(within, all).await;
    let missing: Vec<_> = handlers.iter().filter(|it| !it.has_synced()).map(|it| it.name().to_owned()).collect();
    if missing.is_empty() { Ok(()) } else { Err(NotSynced { missing, within }) }
}

/// Waits until all handlers have heard of everything that was there at first; says no if `stop` came first.
pub async fn synced_before(stop: &CancellationToken, handlers: &[HandlerHandle]) -> bool {
    let all = async {
        for handler in handlers {
            handler.synced().await;
        }
    };
    stop.run_until_cancelled(all).await.is_some()
}
