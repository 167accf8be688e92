//! The API server of this process, and the file that leads to it.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use kube_dev_apiserver::{Server, StartError};
use tempfile::{NamedTempFile, TempPath};

use crate::{
    apply::{ApplyError, apply},
    args::ServerArgs,
    manifest::{ManifestError, Object, read},
};

/// A server that could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// A manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The server does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The kubeconfig cannot be written.
    #[error("cannot write the kubeconfig {path}", path = path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The server's address is of no use to a client.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// A manifest cannot be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// A running API server with its kubeconfig.
#[derive(Debug)]
pub(crate) struct Host {
    server: Server,
    kubeconfig: PathBuf,
    // Without a place of its own the file goes when the server does: it leads nowhere then.
    _temporary: Option<TempPath>,
}

/// The user's own objects. Read before anything is started: a mistake in them should not leave traces.
pub(crate) fn own_objects(args: &ServerArgs) -> Result<Vec<Object>, HostError> {
    let mut objects = Vec::new();
    for path in &args.manifests {
        objects.append(&mut read(path)?);
    }
    Ok(objects)
}

impl Host {
    /// Starts the server.
    pub(crate) async fn start(args: &ServerArgs, config: kube_dev_apiserver::Config) -> Result<Self, HostError> {
        let server = Server::start(config).await?;
        let (kubeconfig, temporary) = if let Some(path) = &args.kubeconfig_out {
            (write_to(path, &server.kubeconfig())?, None)
        } else {
            let temporary = write_somewhere(&server.kubeconfig())?;
            (temporary.to_path_buf(), Some(temporary))
        };
        Ok(Self { server, kubeconfig, _temporary: temporary })
    }

    /// Where the server is.
    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// Where the kubeconfig is.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// How the server is reached: as anybody would who has the kubeconfig.
    pub(crate) async fn config(&self) -> Result<Config, HostError> {
        Ok(Config::from_kubeconfig(&self.kubeconfig).await?)
    }

    /// A client for the tools of this program. Its requests are not limited: nobody else is to be protected.
    pub(crate) async fn client(&self) -> Result<Client, HostError> {
        let user_agent = concat!("devcluster/", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Client::new(
            &self.config().await?,
            ClientOptions { user_agent, qps: 0.0, burst: 1, ..ClientOptions::default() },
        )?)
    }

    /// Applies objects; returns how many.
    pub(crate) async fn apply(&self, objects: Vec<Object>) -> Result<usize, HostError> {
        Ok(apply(&self.client().await?, objects).await?)
    }

    /// Stops the server and removes what is temporary.
    pub(crate) async fn shutdown(self) {
        self.server.shutdown().await;
    }
}

/// Writes beside the file and moves it over: who waits for the file never reads half of it.
fn write_to(path: &Path, text: &str) -> Result<PathBuf, HostError> {
    let write = || {
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.persist(path)?;
        fs::canonicalize(path)
    };
    write().map_err(|source| HostError::Kubeconfig { path: path.to_owned(), source })
}

fn write_somewhere(text: &str) -> Result<TempPath, HostError> {
    let write = || {
        let mut file = tempfile::Builder::new().prefix("devcluster-").suffix(".kubeconfig").tempfile()?;
        file.write_all(text.as_bytes())?;
        Ok(file.into_temp_path())
    };
    write().map_err(|source| HostError::Kubeconfig { path: std::env::temp_dir(), source })
}
