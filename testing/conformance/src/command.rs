//! Controllers under test that are started by a command line.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use futures::future::{BoxFuture, FutureExt as _};
use kube_controller_client::Config;
use kube_dev_apiserver::ReservedPort;
use tempfile::TempDir;

use crate::{Limits, Mode, Running, Subject, program::Program};

/// Command lines that start the controllers under test. In each word, these placeholders are replaced:
///
/// | placeholder | value |
/// |---|---|
/// | `{kubeconfig}` | path of a kubeconfig, which the variable `KUBECONFIG` contains too |
/// | `{server}` | URL of the API server |
/// | `{port}` | a free port of loopback, another one for each occurrence |
/// | `{dir}` | an empty directory, which is removed afterwards and is the working directory of the program |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Command line with the default settings.
    pub plain: Vec<String>,
    /// Command line for [`Mode::Resync`].
    pub resync: Option<Vec<String>>,
    /// Command line for [`Mode::Elected`].
    pub elected: Option<Vec<String>>,
    /// Whether the exit status after SIGTERM must be 0.
    pub clean_exit: bool,
    /// Maximum time from SIGTERM until the program exits.
    pub stop: Duration,
}

impl CommandLine {
    /// Returns a command line without variants for other modes, whose exit status does not matter.
    ///
    /// # Errors
    /// A quote in `text` is not closed, or there is no program.
    pub fn parse(text: &str) -> Result<Self> {
        let plain = split(text)?;
        Ok(Self { plain, resync: None, elected: None, clean_exit: false, stop: Limits::default().stop })
    }

    /// Returns the command lines of the `controller-manager` at `path`, with the settings of the recorded cluster:
    /// batch periods of 500 ms, and a request limit that has no effect. Leader election and HTTPS are as by default.
    pub fn controller_manager(path: &Path) -> Self {
        let words = |more: &[&str]| {
            let mut words = vec![path.display().to_string()];
            let common = [
                "--kubeconfig={kubeconfig}",
                "--secure-port={port}",
                "--bind-address=127.0.0.1",
                "--kube-api-qps=2000",
                "--kube-api-burst=4000",
                "--endpoint-updates-batch-period=500ms",
                "--endpointslice-updates-batch-period=500ms",
                "--mirroring-endpointslice-updates-batch-period=500ms",
            ];
            words.extend(common.iter().chain(more).map(|&word| word.to_owned()));
            words
        };
        Self {
            plain: words(&["--use-service-account-credentials=true"]),
            resync: Some(words(&["--use-service-account-credentials=true", "--min-resync-period=2s"])),
            elected: Some(words(&[])),
            clean_exit: true,
            stop: Limits::default().stop,
        }
    }

    fn words(&self, mode: Mode) -> Option<&Vec<String>> {
        match mode {
            Mode::Plain | Mode::Restarted => Some(&self.plain),
            Mode::Resync => self.resync.as_ref(),
            Mode::Elected => self.elected.as_ref(),
        }
    }

    async fn start(&self, kubeconfig: &Path, mode: Mode) -> Result<Box<dyn Running>> {
        let words = self.words(mode).with_context(|| format!("no command line for {mode:?}"))?;
        let files = tempfile::tempdir().context("cannot create a directory for the program")?;
        let server = Config::from_kubeconfig(kubeconfig).await?.server();
        let mut ports = Vec::new();
        let words = words.iter().map(|word| substituted(word, kubeconfig, &server, &files, &mut ports));
        let program = Program::start(&words.collect::<Result<Vec<_>>>()?, kubeconfig, files)?;
        let (clean_exit, stop) = (self.clean_exit, self.stop);
        Ok(Box::new(Command { program, has_ended: false, clean_exit, stop, _ports: ports }))
    }
}

/// Splits a command line into words, as a shell does.
///
/// # Errors
/// A quote is not closed, or there is no word.
pub fn split(text: &str) -> Result<Vec<String>> {
    let words = shlex::split(text).with_context(|| format!("a quote is not closed: {text}"))?;
    ensure!(!words.is_empty(), "the command line of the controller is empty");
    Ok(words)
}

/// Replaces the placeholders of a word. The ports in it are added to `ports`.
fn substituted(
    word: &str,
    kubeconfig: &Path,
    server: &str,
    files: &TempDir,
    ports: &mut Vec<ReservedPort>,
) -> Result<String> {
    let mut word = word.replace("{kubeconfig}", &kubeconfig.display().to_string());
    word = word.replace("{server}", server).replace("{dir}", &files.path().display().to_string());
    while word.contains("{port}") {
        let port = ReservedPort::new().context("no free port")?;
        word = word.replacen("{port}", &port.port().to_string(), 1);
        ports.push(port);
    }
    Ok(word)
}

impl Subject for CommandLine {
    fn supports(&self, mode: Mode) -> bool {
        self.words(mode).is_some()
    }

    fn start<'a>(&'a self, kubeconfig: &'a Path, mode: Mode) -> BoxFuture<'a, Result<Box<dyn Running>>> {
        self.start(kubeconfig, mode).boxed()
    }
}

struct Command {
    program: Program,
    has_ended: bool,
    clean_exit: bool,
    stop: Duration,
    /// Ports in the command line, which no other program gets meanwhile.
    _ports: Vec<ReservedPort>,
}

impl Running for Command {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        async {
            let ended = self.program.ended().await.unwrap_or_else(|error| format!("{error:#}"));
            self.has_ended = true;
            ended
        }
        .boxed()
    }

    fn log(&self) -> String {
        if self.has_ended { String::new() } else { self.program.log() }
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        async move { self.program.stop(self.stop, self.clean_exit).await }.boxed()
    }
}

/// Returns an absolute path for a program that is given by a path, since the program is started in another directory.
/// Programs that are given by a name are looked up in `PATH`.
pub(crate) fn absolute(program: &str) -> PathBuf {
    let path = PathBuf::from(program);
    if program.contains('/') { std::path::absolute(&path).unwrap_or(path) } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        let files = tempfile::tempdir().unwrap();
        let words =
            split("run '--dir={dir}/a b' --kubeconfig={kubeconfig} --api={server} --ports={port},{port}").unwrap();
        let mut ports = Vec::new();
        let replace =
            |word: &String| substituted(word, Path::new("/k"), "https://127.0.0.1:1", &files, &mut ports).unwrap();
        let words: Vec<_> = words.iter().map(replace).collect();
        let dir = format!("--dir={}/a b", files.path().display());
        assert_eq!(words[..4], ["run", &dir, "--kubeconfig=/k", "--api=https://127.0.0.1:1"]);
        let (one, two) = words[4].strip_prefix("--ports=").unwrap().split_once(',').unwrap();
        assert_eq!([one, two], [ports[0].port().to_string(), ports[1].port().to_string()]);
        assert_ne!(one, two);
    }

    #[test]
    fn a_command_line_needs_a_program_and_closed_quotes() {
        assert!(CommandLine::parse("a 'b").unwrap_err().to_string().contains("quote"));
        assert!(CommandLine::parse(" ").unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn paths_are_absolute_and_names_are_not() {
        assert!(absolute("target/it").is_absolute());
        assert_eq!(absolute("it"), Path::new("it"));
    }
}
