//! The embedded API server and its kubeconfig file.

use std::{
    io,
    path::{Path, PathBuf},
};

use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use kube_dev_apiserver::{Server, StartError};
use tempfile::TempPath;

use crate::{
    apply::{ApplyError, apply},
    args::{KubeconfigOut, ServerArgs},
    kubeconfig_file::{self, KubeconfigFileError},
    manifest::{ManifestError, Object, read},
    output::{OutputError, print},
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
        /// Reason.
        source: KubeconfigFileError,
    },
    /// The kubeconfig cannot be printed.
    #[error("cannot print the kubeconfig")]
    Print(#[from] OutputError),
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
        let text = server.kubeconfig();
        let (kubeconfig, temporary) = match &args.kubeconfig_out {
            Some(KubeconfigOut::File(path)) => {
                let failed = |source| HostError::Kubeconfig { path: path.clone(), source };
                (kubeconfig_file::write(path, &text).map_err(failed)?, None)
            }
            Some(KubeconfigOut::Print) | None => {
                let failed =
                    |source: io::Error| HostError::Kubeconfig { path: std::env::temp_dir(), source: source.into() };
                let temporary = kubeconfig_file::write_temporary(&text).map_err(failed)?;
                (temporary.to_path_buf(), Some(temporary))
            }
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

    /// Prints the kubeconfig to standard output.
    pub(crate) fn print_kubeconfig(&self) -> Result<(), HostError> {
        Ok(print(&self.server.kubeconfig())?)
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
            // The tour and the simulated controllers read Endpoints, which are deprecated, on purpose.
            ClientOptions { user_agent, qps: 0.0, burst: 1, log_warnings: false, ..ClientOptions::default() },
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
