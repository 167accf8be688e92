//! The embedded API server and its kubeconfig file.

use std::path::PathBuf;

use anyhow::Context as _;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Authorization, Server};
use tempfile::TempPath;

use crate::{args::ServerArgs, kubeconfig_file, output::print_warning};

/// Running API server with its kubeconfig file.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) kubeconfig: PathBuf,
    // Removes the kubeconfig when dropped, unless the user chose its path.
    _temporary: Option<TempPath>,
}

impl Host {
    /// Starts the server and writes its kubeconfig. Warns if everybody in the network has the rights of an administrator.
    pub(crate) async fn start(args: &ServerArgs, config: kube_dev_apiserver::Config) -> anyhow::Result<Self> {
        let address = config.listen.ip();
        if matches!(config.authorization, Authorization::AlwaysAllow) && !address.to_canonical().is_loopback() {
            print_warning(&format!(
                "{address} serves other machines, without authorization: everybody who reaches it may change everything"
            ));
        }
        let server = Server::start(config).await?;
        let text = server.kubeconfig();
        let (kubeconfig, temporary) = if let Some(path) = &args.kubeconfig_out {
            let failed = || format!("cannot write the kubeconfig {}", path.display());
            (kubeconfig_file::write(path, &text).with_context(failed)?, None)
        } else {
            let temporary = kubeconfig_file::write_temporary(&text).context("cannot write a temporary kubeconfig")?;
            (temporary.to_path_buf(), Some(temporary))
        };
        Ok(Self { server, kubeconfig, _temporary: temporary })
    }

    /// Returns a client configuration, loaded from the kubeconfig file.
    pub(crate) async fn config(&self) -> anyhow::Result<Config> {
        Ok(Config::from_kubeconfig(&self.kubeconfig).await?)
    }

    /// Returns a client for this program itself, without a rate limit, since the server has no other users.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let user_agent = concat!("devcluster/", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Client::new(
            &self.config().await?,
            // The tour and the simulated controllers read Endpoints, which are deprecated, on purpose.
            ClientOptions { user_agent, qps: 0.0, burst: 1, log_warnings: false, ..ClientOptions::default() },
        )?)
    }
}
