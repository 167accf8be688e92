//! Recordings one after another: from the state of the caches until the end, a failure, an overflow of the queue, or the first list
//! of a kind that could not be read before.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_endpoints_history::Kind;
use kube_endpoints_history::recorder::{Gaps, Message, Recorder};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::attempts::Attempts;
use super::metrics::HistoryMetrics;
use super::place::Place;
use super::queue::Queue;
use super::recorded_caches::{Missing, RecordedCaches};

/// Longest time for which a change is not durable.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// What is recorded, and where.
pub(super) struct Recording {
    pub(super) place: Place,
    pub(super) queue: Arc<Queue>,
    pub(super) gaps: Gaps,
    pub(super) metrics: Option<HistoryMetrics>,
    pub(super) caches: Arc<RecordedCaches>,
    /// Kinds that no controller of the process reads.
    pub(super) unknown: Vec<Kind>,
}

/// How a recording has ended without a failure. Its end is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The process stops.
    Stopped,
    /// A kind was listed that the recording does not have.
    MoreListed,
}

/// Why a recording has ended before the process.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    #[error("changes came faster than they were written")]
    Overflow,
    #[error("cannot write")]
    Write(#[from] io::Error),
    #[error("the recorder has panicked")]
    Panicked,
}

impl Recording {
    /// Records until `stop` is cancelled. No failure ends it.
    pub(super) async fn run(&self, stop: &CancellationToken) {
        let mut attempts = Attempts::default();
        loop {
            let begun = Instant::now();
            let ended = self.record(stop).await;
            if let (Some(metrics), false) = (&self.metrics, matches!(ended, Ok(Ended::Stopped))) {
                metrics.gap();
            }
            let error = match ended {
                Ok(Ended::Stopped) => return,
                Ok(Ended::MoreListed) => continue,
                Err(error) => error,
            };
            let back_off = attempts.failed(begun.elapsed());
            if attempts.is_logged() {
                let (error, retry_in) = (error.display_full(), format!("{back_off:?}"));
                tracing::warn!(err = %error, retry_in, "The history is interrupted; it goes on with a gap");
            }
            if stop.run_until_cancelled(tokio::time::sleep(back_off)).await.is_none() {
                return;
            }
        }
    }

    /// Records the state of the caches and what follows.
    async fn record(&self, stop: &CancellationToken) -> Result<Ended, Interrupted> {
        self.queue.restart();
        let missing = self.caches.missing();
        self.report(&missing);
        let (place, caches, without) = (self.place.clone(), Arc::clone(&self.caches), missing.clone());
        let (unknown, gaps) = ([&self.unknown, missing.kinds()].concat(), self.gaps.clone());
        let mut recorder = blocking(move || begin(place.recorder(&unknown, gaps)?, &caches, &without)).await?;
        self.update_metrics(&recorder, (0, 0));
        let mut checkpoints = interval(CHECKPOINT);
        checkpoints.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let ended = tokio::select! {
                biased;
                () = stop.cancelled() => Some(Ended::Stopped),
                () = self.caches.listed_more(&missing) => Some(Ended::MoreListed),
                _ = checkpoints.tick() => None,
                () = self.queue.many() => None,
            };
            let mut messages = self.queue.take().ok_or(Interrupted::Overflow)?;
            if !missing.is_empty() {
                messages.retain(|message| !missing.concerns(message));
            }
            let before = (recorder.changes(), recorder.gaps());
            recorder = blocking(move || apply(recorder, messages, ended.is_some())).await?;
            self.update_metrics(&recorder, before);
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }

    /// Says which kinds the next recording lacks.
    fn report(&self, missing: &Missing) {
        if let Some(metrics) = &self.metrics {
            metrics.set_missing(missing.len());
        }
        if !missing.is_empty() {
            tracing::warn!(
                resources = self.caches.names(missing),
                "The history lacks resources that could not be listed yet; it has them from their first list on"
            );
        }
    }

    fn update_metrics(&self, recorder: &Recorder, before: (usize, usize)) {
        if let Some(metrics) = &self.metrics {
            metrics.update(recorder, before);
        }
    }
}

/// Runs encoding and writing on a thread where they may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Interrupted> {
    Ok(spawn_blocking(work).await.map_err(|_| Interrupted::Panicked)??)
}

fn begin(mut recorder: Recorder, caches: &RecordedCaches, without: &Missing) -> io::Result<Recorder> {
    let now = kube_ambient::now();
    caches.read(without, &mut |object| recorder.apply(Message::put(now, None, object, true)))?;
    recorder.begin(kube_ambient::now())?;
    Ok(recorder)
}

fn apply(mut recorder: Recorder, messages: Vec<Message>, is_end: bool) -> io::Result<Recorder> {
    for message in messages {
        recorder.apply(message)?;
    }
    let now = kube_ambient::now();
    if is_end {
        recorder.finish(now)?;
    } else {
        recorder.checkpoint(now)?;
    }
    if !is_end && recorder.is_at_limit() {
        return Err(io::Error::other("a change takes more than the limit"));
    }
    Ok(recorder)
}
