//! Progress of the measurements on standard error.

use std::{
    io::{IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// Progress display: a spinner line on a terminal; otherwise one line per scenario.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Returns a progress display on standard error.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {prefix}: {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self { bar }
    }

    /// Sets the current scenario.
    pub(crate) fn begin(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.set_prefix(what.to_owned()),
            // Standard error may be closed.
            None => drop(writeln!(std::io::stderr(), "devcluster: {what}")),
        }
    }

    /// Sets the current step; shown only on a terminal.
    pub(crate) fn step(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(message.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
