//! Progress of a slow fetch, on a terminal.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::sleep;

/// Time after which the progress is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Number of objects read so far. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Progress {
        let style = ProgressStyle::with_template("{spinner} {pos} objects read")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        Progress(ProgressBar::hidden().with_style(style))
    }

    pub(crate) fn add(&self, objects: usize) {
        self.0.inc(objects as u64);
    }

    /// Awaits `work`, which the caller boxes because it is large. After one second the progress is shown until the end,
    /// if standard error is a terminal.
    pub(crate) async fn show_during<T>(&self, mut work: impl Future<Output = T> + Unpin) -> T {
        if io::stderr().is_terminal() {
            tokio::select! {
                biased;
                result = &mut work => return result,
                () = sleep(DELAY) => {}
            }
            self.0.set_draw_target(ProgressDrawTarget::stderr());
            self.0.enable_steady_tick(Duration::from_millis(100));
        }
        let result = work.await;
        self.0.finish_and_clear();
        result
    }
}
