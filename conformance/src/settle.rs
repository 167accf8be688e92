//! When a namespace has settled: when nothing has changed in it for a while.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, bail, ensure};
use tokio::time::{Instant, sleep_until};

/// The endpointslice controller acts on events of slices after at least 1 s, and whatever it then does may cause another.
pub const QUIET: Duration = Duration::from_millis(2600);

/// When what was last changed, as far as is known.
#[derive(Debug, Default)]
pub struct Changes {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    namespaces: HashMap<String, Instant>,
    everywhere: Option<Instant>,
    blind: Option<String>,
}

impl Changes {
    /// Something changed in `namespace`.
    pub fn note(&self, namespace: &str, now: Instant) {
        self.with(|seen| *seen.namespaces.entry(namespace.to_owned()).or_insert(now) = now);
    }

    /// Anything may have changed.
    pub fn note_everywhere(&self, now: Instant) {
        self.with(|seen| seen.everywhere = Some(now));
    }

    /// Changes can no longer be seen: all who wait are told why.
    pub fn blind(&self, why: String) {
        self.with(|seen| seen.blind = Some(why));
    }

    /// Waits until `namespace` has not changed for `quiet`, counted from now at the earliest.
    pub async fn settled(&self, namespace: &str, quiet: Duration, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let due = self.with(|seen| {
                if let Some(why) = &seen.blind {
                    bail!("cannot see whether {namespace} settles: {why}");
                }
                let last = seen.namespaces.get(namespace).copied().max(seen.everywhere).unwrap_or(start);
                Ok(last.max(start) + quiet)
            })?;
            if due <= Instant::now() {
                return Ok(());
            }
            ensure!(due <= start + limit, "{namespace} still changes {} s after the last operation", limit.as_secs());
            sleep_until(due).await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        act(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join;
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long it takes to settle while `act` goes on.
    async fn settles(changes: &Changes, act: impl Future<Output = ()>) -> Result<Duration> {
        let start = Instant::now();
        let settled = async { changes.settled("ns", 3 * SECOND, 20 * SECOND).await.map(|()| start.elapsed()) };
        join(settled, act).await.0
    }

    #[tokio::test(start_paused = true)]
    async fn counts_from_the_last_operation() {
        let changes = Changes::default();
        changes.note("ns", Instant::now());
        sleep(10 * SECOND).await;
        assert_eq!(settles(&changes, async {}).await.unwrap(), 3 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn counts_from_the_last_change() {
        let changes = Changes::default();
        let act = async {
            for _ in 0..3 {
                sleep(2 * SECOND).await;
                changes.note("ns", Instant::now());
                changes.note("elsewhere", Instant::now() + SECOND);
            }
        };
        assert_eq!(settles(&changes, act).await.unwrap(), 9 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_gap_in_what_is_seen_counts_as_a_change() {
        let changes = Changes::default();
        let act = async {
            sleep(SECOND).await;
            changes.note_everywhere(Instant::now());
        };
        assert_eq!(settles(&changes, act).await.unwrap(), 4 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up() {
        let changes = Changes::default();
        let act = async {
            for _ in 0..30 {
                sleep(SECOND).await;
                changes.note("ns", Instant::now());
            }
        };
        let error = settles(&changes, act).await.unwrap_err().to_string();
        assert_eq!(error, "ns still changes 20 s after the last operation");
    }

    #[tokio::test(start_paused = true)]
    async fn says_why_it_is_blind() {
        let changes = Changes::default();
        changes.blind("connection refused".to_owned());
        let error = settles(&changes, async {}).await.unwrap_err().to_string();
        assert_eq!(error, "cannot see whether ns settles: connection refused");
    }
}
