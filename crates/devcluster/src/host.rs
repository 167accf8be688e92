//! The embedded API server and its kubeconfig file.

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

/// Error of setting up the API server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// A manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The server cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The kubeconfig cannot be written.
    #[error("cannot write the kubeconfig {path}", path = path.display())]
    Kubeconfig {
        /// Path of the file.
        path: PathBuf,
        /// I/O error.
        source: io::Error,
    },
    /// The client cannot be configured from the kubeconfig.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// A manifest cannot be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Running API server with its kubeconfig file.
#[derive(Debug)]
pub(crate) struct Host {
    server: Server,
    kubeconfig: PathBuf,
    // Removes the kubeconfig when dropped, unless the user chose its path.
    _temporary: Option<TempPath>,
}

/// Reads the user's manifests. Called before the server is started, so that an invalid manifest has no side effects.
pub(crate) fn user_objects(args: &ServerArgs) -> Result<Vec<Object>, HostError> {
    let mut objects = Vec::new();
    for path in &args.manifests {
        objects.append(&mut read(path)?);
    }
    Ok(objects)
}

impl Host {
    /// Starts the server and writes its kubeconfig.
    pub(crate) async fn start(args: &ServerArgs, config: kube_dev_apiserver::Config) -> Result<Self, HostError> {
        let server = Server::start(config).await?;
        let (kubeconfig, temporary) = if let Some(path) = &args.kubeconfig_out {
            (write_to(path, &server.kubeconfig())?, None)
        } else {
            let temporary = write_to_temporary_file(&server.kubeconfig())?;
            (temporary.to_path_buf(), Some(temporary))
        };
        Ok(Self { server, kubeconfig, _temporary: temporary })
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// Returns the path of the kubeconfig.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns a client configuration, loaded from the kubeconfig file.
    pub(crate) async fn config(&self) -> Result<Config, HostError> {
        Ok(Config::from_kubeconfig(&self.kubeconfig).await?)
    }

    /// Returns a client for this program itself, without a rate limit, since the server has no other users.
    pub(crate) async fn client(&self) -> Result<Client, HostError> {
        let user_agent = concat!("devcluster/", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Client::new(
            &self.config().await?,
            ClientOptions { user_agent, qps: 0.0, burst: 1, ..ClientOptions::default() },
        )?)
    }

    /// Applies objects; returns their number.
    pub(crate) async fn apply(&self, objects: Vec<Object>) -> Result<usize, HostError> {
        Ok(apply(&self.client().await?, objects).await?)
    }

    /// Stops the server and removes a temporary kubeconfig.
    pub(crate) async fn shutdown(self) {
        self.server.shutdown().await;
    }
}

/// Writes to a temporary file in the same directory and renames it, so that readers never see a partial file.
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

fn write_to_temporary_file(text: &str) -> Result<TempPath, HostError> {
    let write = || {
        let mut file = tempfile::Builder::new().prefix("devcluster-").suffix(".kubeconfig").tempfile()?;
        file.write_all(text.as_bytes())?;
        Ok(file.into_temp_path())
    };
    write().map_err(|source| HostError::Kubeconfig { path: std::env::temp_dir(), source })
}
