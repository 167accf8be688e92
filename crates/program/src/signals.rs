//! Shutdown by signals.

use std::io;
use std::process::exit;

use tokio_util::sync::CancellationToken;

/// Returns a token that the first SIGTERM, with which Kubernetes ends a container, or SIGINT (Ctrl+C) cancels. The second
/// signal ends the process at once, with exit code 1: the counterpart of `SetupSignalHandler` of controller-runtime. On
/// systems other than Unix, Ctrl+C counts only.
///
/// Call it once, before the controllers start. Each call is a handler of its own.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O enabled.
///
/// # Errors
///
/// The operating system refuses a handler.
pub fn stop_on_signals() -> io::Result<CancellationToken> {
    let mut signals = Signals::new()?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    #[expect(clippy::disallowed_methods, reason = "ends the process or with it; no result is lost")]
    tokio::spawn(async move {
        signals.next().await;
        stopped.cancel();
        signals.next().await;
        exit(1);
    });
    Ok(stop)
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    fn new() -> io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
