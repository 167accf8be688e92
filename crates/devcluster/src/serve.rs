//! `devcluster serve`: runs only the API server.

use std::io::{self, Write as _};

use anyhow::Context as _;

use crate::{
    args::ServeArgs,
    host::{Host, user_objects},
    stop::Signals,
};

/// Starts the server, applies the user's objects, and serves until a termination signal.
pub(crate) async fn run(args: ServeArgs, mut signals: Signals) -> anyhow::Result<()> {
    let objects = user_objects(&args.server)?;
    let host = Host::start(&args.server, args.config()).await?;
    let prepared = async {
        let applied = host.apply(objects).await?;
        announce(&host, applied).context("cannot write to standard output")
    };
    let result = tokio::select! {
        result = prepared => result,
        () = signals.received() => Ok(false),
    };
    if let Ok(true) = result {
        signals.received().await;
    }
    host.shutdown().await;
    result.map(drop)
}

/// Prints the URL, the kubeconfig's path and the number of applied objects. Always returns `true`.
fn announce(host: &Host, applied: usize) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    writeln!(out, "API server:  {}", host.url())?;
    writeln!(out, "kubeconfig:  {}", host.kubeconfig().display())?;
    if applied > 0 {
        let s = if applied == 1 { "" } else { "s" };
        writeln!(out, "applied:     {applied} object{s}")?;
    }
    out.flush()?;
    Ok(true)
}
