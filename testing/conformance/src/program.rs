//! A program as a child process.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use futures::future::{BoxFuture, FutureExt as _};
use kube_dev_apiserver::ReservedPort;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::Running;

/// File with the output of a program, in its directory.
const LOG: &str = "controllers.log";

/// Running program. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    files: TempDir,
    has_ended: bool,
    /// Whether the exit status after SIGTERM must be 0.
    clean_exit: bool,
    /// Maximum time from SIGTERM until the program exits.
    limit: Duration,
    /// Ports in the command line, which no other program gets meanwhile.
    _ports: Vec<ReservedPort>,
}

impl Program {
    /// Starts a program with its arguments in the directory `files`, which also receives its output.
    pub(crate) fn start(
        words: &[String],
        kubeconfig: &Path,
        files: TempDir,
        ports: Vec<ReservedPort>,
        (clean_exit, limit): (bool, Duration),
    ) -> Result<Self> {
        let [program, arguments @ ..] = words else { bail!("the command line of the controller is empty") };
        let log = File::create(files.path().join(LOG))?;
        let mut command = Command::new(absolute(program));
        command
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .current_dir(files.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let child = command.kill_on_drop(true).spawn().with_context(|| format!("cannot run {program}"))?;
        Ok(Self { child, files, has_ended: false, clean_exit, limit, _ports: ports })
    }

    /// Returns the last 20 lines of the output so far.
    fn output(&self) -> String {
        let log = fs::read(self.files.path().join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Running for Program {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        async {
            let status = self.child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
            self.has_ended = true;
            format!("{status}\n{}", self.output())
        }
        .boxed()
    }

    fn log(&self) -> String {
        if self.has_ended { String::new() } else { self.output() }
    }

    /// Sends SIGTERM and waits until the program has exited.
    fn stop(mut self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        async move {
            let pid = self.child.id().context("the program has exited already")?;
            // `kill` is a builtin of the shell; not every system has it as a program.
            let sent = Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().await?;
            ensure!(sent.success(), "cannot send SIGTERM: {sent}");
            let limit = self.limit;
            let Ok(status) = timeout(limit, self.child.wait()).await else {
                bail!("still running {limit:?} after SIGTERM\n{}", self.output());
            };
            let status = status?;
            ensure!(!self.clean_exit || status.success(), "{status}\n{}", self.output());
            Ok(())
        }
        .boxed()
    }
}

/// Returns an absolute path for a program that is given by a path, since the program is started in another directory.
/// Programs that are given by a name are looked up in `PATH`.
fn absolute(program: &str) -> PathBuf {
    let path = PathBuf::from(program);
    if program.contains('/') { std::path::absolute(&path).unwrap_or(path) } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(words: &[&str], clean: bool) -> Box<Program> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        let (files, limit) = (tempfile::tempdir().unwrap(), Duration::from_secs(300));
        Box::new(Program::start(&words, Path::new("/k"), files, Vec::new(), (clean, limit)).unwrap())
    }

    #[tokio::test]
    async fn shows_the_log_of_one_that_ends() {
        // `ls` rejects its first argument and exits.
        let mut program = start(&["ls", "--kubeconfig=k"], true);
        let ended = program.ended().await;
        assert!(ended.contains("exit status: ") && ended.contains("--kubeconfig"), "{ended}");
        assert_eq!(program.stop().await.unwrap_err().to_string(), "the program has exited already");
    }

    #[tokio::test]
    async fn the_status_after_a_signal_matters_only_if_it_must_be_clean() {
        start(&["sleep", "60"], false).stop().await.unwrap();
        let error = start(&["sleep", "60"], true).stop().await.unwrap_err().to_string();
        assert!(error.starts_with("signal: 15"), "{error}");
    }

    #[tokio::test]
    async fn the_kubeconfig_is_in_the_environment() {
        let ended = start(&["sh", "-c", "echo at $KUBECONFIG"], false).ended().await;
        assert!(ended.ends_with("at /k"), "{ended}");
    }

    #[test]
    fn paths_are_absolute_and_names_are_not() {
        assert!(absolute("target/it").is_absolute());
        assert_eq!(absolute("it"), Path::new("it"));
    }
}
