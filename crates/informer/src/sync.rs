//! Waiting for caches to sync.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::HandlerHandle;

/// Error of [`wait_for_sync`]: some handlers have not synced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not synced within {within:?}: {}", missing.join(", "))]
pub struct NotSynced {
    /// [`HandlerHandle::name`] of each handler that has not synced.
    pub missing: Vec<String>,
    /// Time limit of the wait.
    pub within: Duration,
}

/// Waits until every handler has processed the initial list of its informer, for at most `within`.
///
/// # Errors
///
/// [`NotSynced`] if a handler has not synced after that time, or never will because its informer ended.
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
    // The result of the timeout is not used: handlers may have synced since.
    let _ = timeout(within, all).await;
    let missing: Vec<_> = handlers.iter().filter(|it| !it.has_synced()).map(|it| it.name().to_owned()).collect();
    if missing.is_empty() { Ok(()) } else { Err(NotSynced { missing, within }) }
}

/// Error of [`synced_before`]: a cache ended before its initial contents were delivered, so it never syncs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cache of {name} stopped before it synced")]
pub struct NeverSynced {
    /// [`HandlerHandle::name`] of the cache.
    pub name: String,
}

/// Waits until every handler has processed the initial list of its informer, without a time limit.
///
/// Returns `false` if `stop` is cancelled first. A controller starts its workers only after `true`, as upstream's
/// controllers do after `cache.WaitForNamedCacheSync`.
///
/// # Errors
///
/// [`NeverSynced`] if an informer ends before the handler has synced. Upstream's function would wait for ever.
pub async fn synced_before(stop: &CancellationToken, handlers: &[HandlerHandle]) -> Result<bool, NeverSynced> {
    for handler in handlers {
        match stop.run_until_cancelled(handler.synced()).await {
            Some(true) => {}
            // Informers stop on the same token, and may have ended before this task runs.
            None | Some(false) if stop.is_cancelled() => return Ok(false),
            _ => return Err(NeverSynced { name: handler.name().to_owned() }),
        }
    }
    Ok(true)
}
