//! Termination signals: SIGINT, SIGTERM and SIGHUP; Ctrl-C on systems other than Unix.

use std::io;

/// Handler of termination signals. From its creation on, they no longer kill the process.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    /// Installs the signal handlers.
    pub(crate) fn catch() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            // Sent when the terminal is closed.
            #[cfg(unix)]
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for SIGINT, SIGTERM or SIGHUP.
    #[cfg(unix)]
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Waits for Ctrl-C.
    #[cfg(not(unix))]
    pub(crate) async fn received(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Ctrl-C cannot be handled on this system.
            std::future::pending::<()>().await;
        }
    }
}
