//! Controllers under test that are started by a command line.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use futures::future::{BoxFuture, FutureExt as _, ready};
use kube_dev_apiserver::ReservedPort;

use crate::{Connection, Limits, Mode, Running, Subject, program::Program};

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

    fn words(&self, mode: Mode) -> Option<&Vec<String>> {
        match mode {
            Mode::Plain | Mode::Restarted => Some(&self.plain),
            Mode::Resync => self.resync.as_ref(),
            Mode::Elected => self.elected.as_ref(),
        }
    }

    fn start(&self, Connection { config, kubeconfig }: &Connection, mode: Mode) -> Result<Box<dyn Running>> {
        let words = self.words(mode).with_context(|| format!("no command line for {mode:?}"))?;
        let files = tempfile::tempdir().context("cannot create a directory for the program")?;
        let server = config.server();
        let mut ports = Vec::new();
        let words = words.iter().map(|word| substituted(word, kubeconfig, &server, files.path(), &mut ports));
        let words = words.collect::<Result<Vec<_>>>()?;
        Ok(Box::new(Program::start(&words, kubeconfig, files, ports, (self.clean_exit, self.stop))?))
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
    dir: &Path,
    ports: &mut Vec<ReservedPort>,
) -> Result<String> {
    let mut word = word.replace("{kubeconfig}", &kubeconfig.display().to_string());
    word = word.replace("{server}", server).replace("{dir}", &dir.display().to_string());
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

    fn start<'a>(&'a self, connection: &'a Connection, mode: Mode) -> BoxFuture<'a, Result<Box<dyn Running>>> {
        ready(self.start(connection, mode)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        let words =
            split("run '--dir={dir}/a b' --kubeconfig={kubeconfig} --api={server} --ports={port},{port}").unwrap();
        let mut ports = Vec::new();
        let replace = |word: &String| {
            substituted(word, Path::new("/k"), "https://127.0.0.1:1", Path::new("/d"), &mut ports).unwrap()
        };
        let words: Vec<_> = words.iter().map(replace).collect();
        assert_eq!(words[..4], ["run", "--dir=/d/a b", "--kubeconfig=/k", "--api=https://127.0.0.1:1"]);
        let (one, two) = words[4].strip_prefix("--ports=").unwrap().split_once(',').unwrap();
        assert_eq!([one, two], [ports[0].port().to_string(), ports[1].port().to_string()]);
        assert_ne!(one, two);
    }

    #[test]
    fn a_command_line_needs_a_program_and_closed_quotes() {
        assert!(CommandLine::parse("a 'b").unwrap_err().to_string().contains("quote"));
        assert!(CommandLine::parse(" ").unwrap_err().to_string().contains("empty"));
    }
}
