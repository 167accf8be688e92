//! The end of requests at shutdown.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Time after `stop` is cancelled during which running syncs may still start requests. A sync may need hundreds of
/// requests and wait for the rate limiter before each, which takes longer than [`GRACE`](crate::leader::GRACE); the next leader does the
/// rest.
const REQUEST_DEADLINE: Duration = Duration::from_millis(1_500);

/// Cancels `deadline` [`REQUEST_DEADLINE`] after `stop` is cancelled. Never returns.
pub(crate) async fn enforce(stop: &CancellationToken, deadline: &CancellationToken) -> Infallible {
    stop.cancelled().await;
    sleep(REQUEST_DEADLINE).await;
    deadline.cancel();
    std::future::pending().await
}
