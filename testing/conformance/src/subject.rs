//! Controllers under test: those that a scenario starts and stops, and those that run already.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use futures::future::{BoxFuture, FutureExt as _, pending, ready};
use kube_controller_client::Config;

/// Settings of the controllers that a scenario requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Default settings.
    #[default]
    Plain,
    /// A resync of all objects at least every two seconds.
    Resync,
    /// Leader election, with requests under the user of the kubeconfig. The scenario starts two instances.
    Elected,
    /// Default settings. The scenario starts and stops the instances.
    Restarted,
}

/// Connection of the controllers to the API server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Client configuration, for controllers in the process of the test.
    pub config: Config,
    /// Path of a kubeconfig with the same server and credentials; empty for [`Target::InProcess`](crate::Target).
    pub kubeconfig: PathBuf,
}

/// Controllers under test.
pub trait Subject: Send + Sync {
    /// Returns whether the controllers can be started in this mode.
    fn supports(&self, mode: Mode) -> bool;

    /// Starts an instance of the controllers.
    fn start<'a>(&'a self, connection: &'a Connection, mode: Mode) -> BoxFuture<'a, Result<Box<dyn Running>>>;
}

/// Running instance of the controllers under test. Dropping it ends the instance.
pub trait Running: Send {
    /// Waits until the instance ends by itself. Returns its exit status and the end of its log.
    fn ended(&mut self) -> BoxFuture<'_, String>;

    /// Returns the end of the output of an instance that has not ended; empty if it is not recorded.
    fn log(&self) -> String {
        String::new()
    }

    /// Stops the instance.
    ///
    /// # Errors
    /// It does not shut down as it should.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>>;
}

/// Runs `work` while an instance runs, and then stops it.
///
/// # Errors
/// `work` fails, or the instance exits during it or does not shut down as it should.
pub async fn during<T>(mut running: Box<dyn Running>, work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = alive(&mut *running, work).await;
    let log = running.log();
    let stopped = running.stop().await.context("the controllers did not shut down cleanly");
    match done {
        Ok(done) => stopped.map(|()| done),
        // The first failure is reported; that of the shutdown often follows from it.
        Err(error) if log.is_empty() => Err(error),
        Err(error) => bail!("{error:#}\nend of the output of the controllers:\n{log}"),
    }
}

/// Runs `work` while an instance runs.
///
/// # Errors
/// `work` fails, or the instance exits during it.
pub async fn alive<T>(running: &mut dyn Running, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        biased;
        done = work => done,
        ended = running.ended() => bail!("the controllers exited during the test: {ended}"),
    }
}

/// Controllers that run already, on a cluster or against the kubeconfig of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct External;

impl Subject for External {
    fn supports(&self, mode: Mode) -> bool {
        mode == Mode::Plain
    }

    fn start<'a>(&'a self, _: &'a Connection, _: Mode) -> BoxFuture<'a, Result<Box<dyn Running>>> {
        ready(Ok(Box::new(*self) as Box<dyn Running>)).boxed()
    }
}

impl Running for External {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        pending().boxed()
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        ready(Ok(())).boxed()
    }
}
