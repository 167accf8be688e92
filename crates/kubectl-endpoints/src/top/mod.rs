//! TEMPORARY stub of `top`, which is written in parallel. Replace this file on merge.

use anyhow::bail;
use kube_controller_client::Client;

/// Options of `top`.
#[derive(Debug)]
pub(crate) struct TopOptions {
    /// Namespace; `None` for all.
    pub(crate) namespace: Option<String>,
    /// Label selector of the Services.
    pub(crate) selector: Option<String>,
    /// URL of the metrics of controller-manager.
    pub(crate) metrics_url: Option<String>,
}

/// Runs until the user ends it.
#[expect(clippy::unused_async, reason = "a stub")]
pub(crate) async fn run(client: Client, options: TopOptions) -> anyhow::Result<()> {
    let TopOptions { namespace, selector, metrics_url } = options;
    bail!("not implemented: {client:?} {namespace:?} {selector:?} {metrics_url:?}")
}
