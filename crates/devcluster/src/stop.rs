//! When to stop: Ctrl-C, or SIGTERM where that exists.

use std::io;

/// The signals that end the program. They are caught from the moment this exists.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Catches the signals.
    pub(crate) fn catch() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for one of them.
    #[cfg(unix)]
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Waits for Ctrl-C.
    #[cfg(not(unix))]
    pub(crate) async fn received(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Nobody can stop us this way: then nobody does.
            std::future::pending::<()>().await;
        }
    }
}
