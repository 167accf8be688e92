//! The server's process, and how it is spoken to.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, bail};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Population;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{
    USER_AGENT,
    protocol::{Answer, Counts, Question},
};

/// A cluster in a process of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct World {
    /// Who is in it.
    pub(crate) population: Population,
    /// How it is reached.
    pub(crate) kubeconfig: PathBuf,
    /// Whether controllers have written all there is to write.
    pub(crate) filled: bool,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl World {
    /// Starts a server and loads a cluster into it; its kubeconfig goes into `folder`.
    pub(crate) async fn start(population: Population, folder: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("bench-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the server")?;
        let questions = process.stdin.take().context("no standard input")?;
        let stdout = process.stdout.take().context("no standard output")?;
        let answers = BufReader::new(stdout).lines();
        let kubeconfig = folder.join("kubeconfig");
        let mut world = Self { population, kubeconfig, filled: false, questions, answers, _process: process };
        match world.answer().await? {
            Answer::Ready(kubeconfig) => fs::write(&world.kubeconfig, kubeconfig)?,
            other => bail!("the server began with {other:?}"),
        }
        match world.ask(Question::load(population)).await? {
            Answer::Loaded(_) => Ok(world),
            other => bail!("the cluster cannot be loaded: {other:?}"),
        }
    }

    /// What everybody but the bench has done so far.
    pub(crate) async fn count(&mut self) -> anyhow::Result<Counts> {
        match self.ask(Question::Count).await? {
            Answer::Counted(counts) => Ok(counts),
            other => bail!("the server does not count: {other:?}"),
        }
    }

    /// A client of the bench, without limits.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let user_agent = format!("{USER_AGENT}/{}", env!("CARGO_PKG_VERSION"));
        let options = ClientOptions { user_agent, qps: 0.0, burst: 1, ..ClientOptions::default() };
        Ok(Client::new(&Config::from_kubeconfig(&self.kubeconfig).await?, options)?)
    }

    async fn ask(&mut self, question: Question) -> anyhow::Result<Answer> {
        let mut line = serde_json::to_vec(&question)?;
        line.push(b'\n');
        self.questions.write_all(&line).await.context("the server does not listen")?;
        self.answer().await
    }

    async fn answer(&mut self) -> anyhow::Result<Answer> {
        let line = self.answers.next_line().await?.context("the server has ended")?;
        Ok(serde_json::from_str(&line)?)
    }
}
