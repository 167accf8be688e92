//! Recordings one after another: from the state of the caches until the end, a failure, or an overflow of the queue.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_endpoints_history::Kind;
use kube_endpoints_history::recorder::{Message, Recorder};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Source;
use super::attempts::Attempts;
use super::metrics::HistoryMetrics;
use super::place::Place;
use super::queue::Queue;

/// Longest time for which a change is not durable.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// What is recorded, and where.
pub(super) struct Recording {
    pub(super) place: Place,
    pub(super) queue: Arc<Queue>,
    pub(super) metrics: Option<HistoryMetrics>,
    pub(super) sources: Arc<[Source]>,
    pub(super) unknown: Vec<Kind>,
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
            let Err(error) = self.record(stop).await else { return };
            let back_off = attempts.failed(begun.elapsed());
            if let Some(metrics) = &self.metrics {
                metrics.gap();
            }
            if attempts.is_logged() {
                let (error, retry_in) = (error.display_full(), format!("{back_off:?}"));
                tracing::warn!(err = %error, retry_in, "The history is interrupted; it goes on with a gap");
            }
            if stop.run_until_cancelled(tokio::time::sleep(back_off)).await.is_none() {
                return;
            }
        }
    }

    /// Records the state of the caches and what follows. Returns when `stop` is cancelled, and the end is written.
    async fn record(&self, stop: &CancellationToken) -> Result<(), Interrupted> {
        self.queue.restart();
        let (place, unknown, sources) = (self.place.clone(), self.unknown.clone(), Arc::clone(&self.sources));
        let mut recorder = blocking(move || begin(&place, &unknown, &sources)).await?;
        self.update_metrics(&recorder, (0, 0));
        let mut checkpoints = interval(CHECKPOINT);
        checkpoints.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_end = tokio::select! {
                biased;
                () = stop.cancelled() => true,
                _ = checkpoints.tick() => false,
                () = self.queue.many() => false,
            };
            let messages = self.queue.take().ok_or(Interrupted::Overflow)?;
            let before = (recorder.changes(), recorder.gaps());
            recorder = blocking(move || apply(recorder, messages, is_end)).await?;
            self.update_metrics(&recorder, before);
            if is_end {
                return Ok(());
            }
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

fn begin(place: &Place, unknown: &[Kind], sources: &[Source]) -> io::Result<Recorder> {
    let mut recorder = place.recorder(unknown)?;
    let now = kube_ambient::now();
    for object in sources.iter().flat_map(|source| source()) {
        recorder.apply(Message::Put { seen: now, author: None, object, is_new: true, is_listed: true })?;
    }
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
