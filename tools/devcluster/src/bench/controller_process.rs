//! Process of the measured controllers.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
    str::FromStr,
    time::Duration,
};

use anyhow::{Context as _, bail};
use procfs::process::Process;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use super::usage::Usage;

/// Flags of the controllers of this workspace: no leader election, no HTTPS port, and a rate limit that delays nothing.
const DEFAULT_FLAGS: &str = "--kubeconfig={kubeconfig} --leader-elect=false --secure-port=0 --kube-api-qps=2000 \
    --kube-api-burst=4000 --endpoint-updates-batch-period={batch_period} \
    --endpointslice-updates-batch-period={batch_period} --mirroring-endpointslice-updates-batch-period={batch_period}";

/// Maximum time for the controllers to stop after SIGTERM.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Command line with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    words: Vec<String>,
}

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("a quote is not closed")?;
        if words.is_empty() { Err("no command".to_owned()) } else { Ok(Self { words }) }
    }
}

impl Template {
    /// Returns the command line of the `controller-manager` in the directory of this program.
    pub(crate) fn default_command() -> anyhow::Result<Self> {
        let program_path = std::env::current_exe().context("path of this program")?;
        let manager = program_path.with_file_name("controller-manager");
        if !manager.is_file() {
            bail!(
                "{} not found: build it with `cargo build --profile dist -p endpoint-controller-manager`, or give another \
                 command with --controller",
                manager.display()
            );
        }
        let words = std::iter::once(manager.display().to_string());
        Ok(Self { words: words.chain(DEFAULT_FLAGS.split_whitespace().map(str::to_owned)).collect() })
    }

    /// Returns the words with the values of the placeholders.
    pub(crate) fn fill(&self, kubeconfig: &Path, batch_period: Duration) -> Vec<String> {
        let (kubeconfig, period) = (kubeconfig.display().to_string(), format!("{}ms", batch_period.as_millis()));
        let fill = |word: &String| word.replace("{kubeconfig}", &kubeconfig).replace("{batch_period}", &period);
        self.words.iter().map(fill).collect()
    }
}

/// Process of the controllers. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct ControllerProcess {
    child: Child,
    process: Process,
    log: PathBuf,
}

impl ControllerProcess {
    /// Starts the process; its output goes to `controller.log` in `folder`.
    pub(crate) fn start(words: &[String], folder: &Path) -> anyhow::Result<Self> {
        let Some((program, arguments)) = words.split_first() else { bail!("no command") };
        let log = folder.join("controller.log");
        let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).context("the controllers exited immediately")?;
        let process = Process::new(pid).context("cannot read /proc of the controllers")?;
        Ok(Self { child, process, log })
    }

    /// Returns the resource usage so far. If the process has exited, fails with the last three lines of its output.
    pub(crate) fn usage(&mut self) -> anyhow::Result<Usage> {
        if let Some(status) = self.child.try_wait()? {
            let mut text = String::new();
            let _ = File::open(&self.log).and_then(|mut file| file.read_to_string(&mut text));
            let last: Vec<&str> = text.lines().rev().take(3).collect();
            bail!(
                "the controllers terminated with {status}: {}",
                last.into_iter().rev().collect::<Vec<_>>().join(" / ")
            );
        }
        Ok(Usage::of(&self.process)?)
    }

    /// Stops the process with SIGTERM, so that profilers can write their results; kills it after 60 s.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(pid) = Pid::from_raw(self.process.pid()) {
            kill_process(pid, Signal::TERM).context("cannot stop the controllers")?;
        }
        if timeout(TIMEOUT, self.child.wait()).await.is_err() {
            self.child.kill().await.context("cannot stop the controllers")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_is_split_like_a_shell_and_filled() {
        let template: Template = "kcm --kubeconfig '{kubeconfig}' --b={batch_period}".parse().unwrap();
        let words = template.fill(Path::new("/a b"), Duration::from_millis(500));
        assert_eq!(words, ["kcm", "--kubeconfig", "/a b", "--b=500ms"]);
        assert!("".parse::<Template>().is_err() && "'a".parse::<Template>().is_err());
    }

    #[tokio::test]
    async fn usage_after_exit_fails_with_the_last_output() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["sh", "-c", "echo bad flag >&2; exit 3"].map(str::to_owned);
        let mut controller_process = ControllerProcess::start(&words, folder.path()).unwrap();
        controller_process.child.wait().await.unwrap();
        let error = controller_process.usage().unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("bad flag"), "{error}");
    }
}
