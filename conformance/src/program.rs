//! The program `controller-manager` as a child process.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::process::{end_of_log, free_port, spawn};

const NAME: &str = "controller-manager";

/// Maximum time until the program exits after SIGTERM.
const STOP: Duration = Duration::from_secs(5);

/// A running `controller-manager` with the settings of the recorded cluster. It is killed when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    files: TempDir,
}

impl Program {
    /// Starts the program at `path`, with leader election and HTTPS as by default.
    ///
    /// Flags set other values for the port, for service account credentials, for batch periods (500 ms, as recorded),
    /// and for the request limit, which is so high that it has no effect.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(path: &Path, kubeconfig: &Path) -> Result<Self> {
        let files = tempfile::tempdir().context("cannot create a directory for the program")?;
        let child = spawn(path, NAME, &arguments(kubeconfig, free_port()?), files.path())?;
        Ok(Self { child, files })
    }

    /// Waits until the program exits by itself. Returns its exit status and the last 20 lines of its log.
    ///
    /// # Errors
    /// The exit status cannot be read.
    pub async fn ended(&mut self) -> Result<String> {
        let status = self.child.wait().await?;
        Ok(format!("{status}\n{}", end_of_log(self.files.path(), NAME)))
    }

    /// Sends SIGTERM and waits until the program has exited.
    ///
    /// # Errors
    /// The program has exited already, is still running after five seconds, or exits with a status other than 0.
    pub async fn stop(mut self) -> Result<()> {
        let pid = self.child.id().context("the program has exited already")?;
        // `kill` is a builtin of the shell; not every system has it as a program.
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
        // `ls` rejects its first argument and exits.
        let mut program = Program::start(Path::new("ls"), Path::new("k")).unwrap();
        let ended = program.ended().await.unwrap();
        assert!(ended.contains("exit status: ") && ended.contains("--kubeconfig"), "{ended}");
        assert_eq!(program.stop().await.unwrap_err().to_string(), "the program has exited already");
    }
}
