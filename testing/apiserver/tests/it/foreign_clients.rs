//! The official clients for Python and JavaScript: create, patches, server-side apply, watch and an informer; and Helm
//! with its default driver: install, upgrade, roll back and uninstall.
//!
//! `.ci/run` installs them. `KUBERNETES_PYTHON` is a Python with the packages `kubernetes` and `helm-sdkpy`,
//! `KUBERNETES_NODE_MODULES` a folder that contains `@kubernetes/client-node`. A test is skipped with a message if its
//! variable is not set.

use std::env::{self, VarError};
use std::path::Path;
use std::process::Stdio;

use kube_dev_apiserver::{Authorization, Config, Server, Transport};
use rstest::rstest;
use tokio::process::Command;
use tokio::time::timeout;

use crate::client::LIMIT;

fn variable(name: &str) -> Option<String> {
    match env::var(name) {
        Ok(value) => Some(value),
        Err(VarError::NotPresent) => {
            eprintln!("SKIPPED foreign_clients: {name} is not set (see .ci/run)");
            None
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");

/// Returns the command with its arguments; `None` if the client is not installed.
fn python(kubeconfig: &Path) -> Option<Command> {
    let mut command = Command::new(variable("KUBERNETES_PYTHON")?);
    command.arg(format!("{SCRIPTS}/client.py")).arg(kubeconfig).arg("shop");
    Some(command)
}

fn javascript(kubeconfig: &Path) -> Option<Command> {
    let modules = variable("KUBERNETES_NODE_MODULES")?;
    let mut command = Command::new("node");
    command.arg(format!("{SCRIPTS}/client.mjs")).arg(kubeconfig).arg("shop").env("NODE_PATH", modules);
    Some(command)
}

fn helm(kubeconfig: &Path) -> Option<Command> {
    let mut command = Command::new(variable("KUBERNETES_PYTHON")?);
    command.arg(format!("{SCRIPTS}/helm.py")).arg(kubeconfig).args(["shop", &format!("{SCRIPTS}/chart")]);
    Some(command)
}

#[rstest]
#[case::python(python, Transport::Plain)]
#[case::python_over_tls(python, Transport::Tls)]
#[case::javascript(javascript, Transport::Plain)]
#[case::javascript_over_tls(javascript, Transport::Tls)]
#[case::helm(helm, Transport::Plain)]
#[case::helm_over_tls(helm, Transport::Tls)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_client_works(#[case] client: fn(&Path) -> Option<Command>, #[case] transport: Transport) {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let Some(mut command) = client(&kubeconfig) else { return };
    let authorization = match transport {
        Transport::Tls => Authorization::Rbac,
        Transport::Plain => Authorization::AlwaysAllow,
    };
    let server = Server::start(Config { transport, authorization, ..Config::default() }).await.unwrap();
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();

    command.env("HOME", folder.path()).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(LIMIT, command.output()).await.expect("an end").unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    server.shutdown().await;
}
