//! Client of the API server process of the bench.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, bail};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Population;
use kube_wire::Encoding;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::protocol::{Request, RequestCounts, Response, USER_AGENT};

/// API server process with a cluster. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    /// Size of the cluster.
    pub(crate) population: Population,
    /// Path of the kubeconfig.
    pub(crate) kubeconfig: PathBuf,
    /// Whether the controllers have written all Endpoints and slices.
    pub(crate) filled: bool,
    requests: ChildStdin,
    responses: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl ServerProcess {
    /// Starts a server process, writes its kubeconfig to `folder`, and loads a cluster.
    pub(crate) async fn start(population: Population, folder: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("bench-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the API server process")?;
        let requests = child.stdin.take().context("no standard input")?;
        let stdout = child.stdout.take().context("no standard output")?;
        let responses = BufReader::new(stdout).lines();
        let kubeconfig = folder.join("kubeconfig");
        let mut server = Self { population, kubeconfig, filled: false, requests, responses, _child: child };
        match server.read_response().await? {
            Response::Ready(kubeconfig) => fs::write(&server.kubeconfig, kubeconfig)?,
            other => bail!("unexpected first message of the API server process: {other:?}"),
        }
        match server.call(Request::load(population)).await? {
            Response::Loaded(_) => Ok(server),
            other => bail!("cannot load the cluster: {other:?}"),
        }
    }

    /// Returns the requests and traffic so far, except those of the bench.
    pub(crate) async fn count(&mut self) -> anyhow::Result<RequestCounts> {
        match self.call(Request::Count).await? {
            Response::Counted(counts) => Ok(counts),
            other => bail!("unexpected response to a request for counts: {other:?}"),
        }
    }

    /// Returns a client for the bench, without a rate limit. It requests JSON, which the server stores: encoding protobuf
    /// for the observer would take CPU time from the controllers.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let user_agent = format!("{USER_AGENT}/{}", env!("CARGO_PKG_VERSION"));
        let options =
            ClientOptions { user_agent, content_type: Encoding::Json, qps: 0.0, burst: 1, ..ClientOptions::default() };
        Ok(Client::new(&Config::from_kubeconfig(&self.kubeconfig).await?, options)?)
    }

    async fn call(&mut self, request: Request) -> anyhow::Result<Response> {
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        self.requests.write_all(&line).await.context("cannot write to the API server process")?;
        self.read_response().await
    }

    async fn read_response(&mut self) -> anyhow::Result<Response> {
        let line = self.responses.next_line().await?.context("the API server process has exited")?;
        Ok(serde_json::from_str(&line)?)
    }
}
