//! A program as a child process.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    command::absolute,
    process::{end_of_log, spawn},
};

const NAME: &str = "controllers";

/// Running program. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    files: TempDir,
}

impl Program {
    /// Starts a program with its arguments in the directory `files`, which also receives its output.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn start(words: &[String], kubeconfig: &Path, files: TempDir) -> Result<Self> {
        let [program, arguments @ ..] = words else { bail!("the command line of the controller is empty") };
        let variables = [("KUBECONFIG", kubeconfig)];
        let child = spawn(&absolute(program), NAME, arguments, &variables, files.path())?;
        Ok(Self { child, files })
    }

    /// Waits until the program exits by itself. Returns its exit status and the last 20 lines of its log.
    ///
    /// # Errors
    /// The exit status cannot be read.
    pub(crate) async fn ended(&mut self) -> Result<String> {
        let status = self.child.wait().await?;
        Ok(format!("{status}\n{}", self.log()))
    }

    /// Returns the last 20 lines of the output so far.
    pub(crate) fn log(&self) -> String {
        end_of_log(self.files.path(), NAME)
    }

    /// Sends SIGTERM and waits until the program has exited.
    ///
    /// # Errors
    /// The program has exited already, is still running after `limit`, or, with `clean`, exits with a status other
    /// than 0.
    pub(crate) async fn stop(mut self, limit: Duration, clean: bool) -> Result<()> {
        let pid = self.child.id().context("the program has exited already")?;
        // `kill` is a builtin of the shell; not every system has it as a program.
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().await?;
        ensure!(sent.success(), "cannot send SIGTERM: {sent}");
        match timeout(limit, self.child.wait()).await {
            Ok(status) => {
                let status = status?;
                ensure!(!clean || status.success(), "{status}\n{}", self.log());
                Ok(())
            }
            Err(_) => bail!("still running {limit:?} after SIGTERM\n{}", self.log()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    fn start(words: &[&str]) -> Program {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        Program::start(&words, Path::new("/k"), tempfile::tempdir().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn shows_the_log_of_one_that_ends() {
        // `ls` rejects its first argument and exits.
        let mut program = start(&["ls", "--kubeconfig=k"]);
        let ended = program.ended().await.unwrap();
        assert!(ended.contains("exit status: ") && ended.contains("--kubeconfig"), "{ended}");
        assert_eq!(program.stop(LIMIT, true).await.unwrap_err().to_string(), "the program has exited already");
    }

    #[tokio::test]
    async fn the_status_after_a_signal_matters_only_if_it_must_be_clean() {
        start(&["sleep", "60"]).stop(LIMIT, false).await.unwrap();
        let error = start(&["sleep", "60"]).stop(LIMIT, true).await.unwrap_err().to_string();
        assert!(error.starts_with("signal: 15"), "{error}");
    }

    #[tokio::test]
    async fn the_kubeconfig_is_in_the_environment() {
        let ended = start(&["sh", "-c", "echo at $KUBECONFIG"]).ended().await.unwrap();
        assert!(ended.ends_with("at /k"), "{ended}");
    }
}
