//! The controllers as a process of their own.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::process::{end_of_log, free_port, spawn};

const NAME: &str = "controller-manager";

/// How long it may take to end when asked to.
const STOP: Duration = Duration::from_secs(5);

/// A running `controller-manager`, set up as the recorded one was; it is killed when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    files: TempDir,
}

impl Program {
    /// Starts the program at `path` with its default flags: it elects a leader, and serves over HTTPS.
    ///
    /// What differs from the defaults is that controllers write as service accounts of their own, the port, and what the
    /// recordings were made with: batch periods, and a limit on requests that does not count.
    pub fn start(path: &Path, kubeconfig: &Path) -> Result<Self> {
        let files = tempfile::tempdir().context("cannot make a directory for the program")?;
        let child = spawn(path, NAME, &arguments(kubeconfig, free_port()?), files.path())?;
        Ok(Self { child, files })
    }

    /// Waits until it ends though nobody asked it to, and says what it said last.
    pub async fn ended(&mut self) -> Result<String> {
        let status = self.child.wait().await?;
        Ok(format!("{status}\n{}", end_of_log(self.files.path(), NAME)))
    }

    /// Asks it to end; it has to within five seconds, and well.
    pub async fn stop(mut self) -> Result<()> {
        let pid = self.child.id().context("it has ended already")?;
        // A command of the shell: not every system has a program for it.
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().await?;
        ensure!(sent.success(), "cannot send SIGTERM: {sent}");
        match timeout(STOP, self.child.wait()).await {
            Ok(status) => {
                let status = status?;
                ensure!(status.success(), "{status}\n{}", end_of_log(self.files.path(), NAME));
                Ok(())
            }
            Err(_) => bail!("still running {STOP:?} after SIGTERM\n{}", end_of_log(self.files.path(), NAME)),
        }
    }
}

fn arguments(kubeconfig: &Path, port: u16) -> Vec<String> {
    let mut arguments = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--use-service-account-credentials=true".to_owned(),
        "--kube-api-qps=2000".to_owned(),
        "--kube-api-burst=4000".to_owned(),
    ];
    let periods = [
        "endpoint-updates-batch-period",
        "endpointslice-updates-batch-period",
        "mirroring-endpointslice-updates-batch-period",
    ];
    arguments.extend(periods.map(|flag| format!("--{flag}=500ms")));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shows_the_log_of_one_that_ends() {
        // A program that complains about its first argument and ends.
        let mut program = Program::start(Path::new("ls"), Path::new("k")).unwrap();
        let ended = program.ended().await.unwrap();
        assert!(ended.contains("exit status: ") && ended.contains("--kubeconfig"), "{ended}");
        assert_eq!(program.stop().await.unwrap_err().to_string(), "it has ended already");
    }
}
