//! Waiting for a state that other tasks, threads or processes reach.

use std::fmt::Debug;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Time after which a wait fails. Only a hang reaches it, on any machine: it bounds waits for an event that is certain to
/// come, and is never part of what a test claims.
pub const LIMIT: Duration = Duration::from_secs(300);
/// First pause between two observations. Each pause is twice the previous one, up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// Polls `observe` until it returns `expected`. Panics after [`LIMIT`]; `what` names the observed state in the message.
pub async fn eventually<T, F>(what: &str, expected: &T, observe: impl Fn() -> F)
where
    T: PartialEq + Debug,
    F: Future<Output = T>,
{
    if let Err(seen) = within(LIMIT, observe, |seen| seen == expected).await {
        panic!("{what}: {seen:?} after {LIMIT:?}, expected {expected:?}");
    }
}

/// Polls `observe` until `accept` returns true for the result, and returns it. Panics after [`LIMIT`]; `what` names the
/// awaited state in the message.
pub async fn until<T, F>(what: &str, observe: impl Fn() -> F, accept: impl Fn(&T) -> bool) -> T
where
    T: Debug,
    F: Future<Output = T>,
{
    match within(LIMIT, observe, accept).await {
        Ok(seen) => seen,
        Err(seen) => panic!("no {what} after {LIMIT:?}, but {seen:?}"),
    }
}

/// Polls `observe` until `accept` returns true for the result, and returns it. The last result is the error after
/// `limit`.
pub async fn within<T, F>(limit: Duration, observe: impl Fn() -> F, accept: impl Fn(&T) -> bool) -> Result<T, T>
where
    F: Future<Output = T>,
{
    let deadline = Instant::now() + limit;
    let mut pause = MIN_PAUSE;
    loop {
        let seen = observe().await;
        if accept(&seen) {
            return Ok(seen);
        }
        if Instant::now() >= deadline {
            return Err(seen);
        }
        sleep(pause).await;
        pause = MAX_PAUSE.min(2 * pause);
    }
}
