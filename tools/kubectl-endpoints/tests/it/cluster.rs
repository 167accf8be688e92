//! An API server with a small shop, and runs of the program against it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use kube_dev_apiserver::{Authorization, Config, Server, Transport, User};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

/// An API server, and a folder with a kubeconfig whose context has the namespace `shop`.
pub(crate) struct Cluster {
    pub(crate) server: Server,
    folder: TempDir,
}

/// Outcome of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Cluster {
    /// Starts a server that allows every request, with the objects of [`shop`].
    pub(crate) async fn start() -> Cluster {
        Cluster::start_with(Config::default(), []).await
    }

    /// Starts a server with RBAC, the objects of [`shop`], and these rules for `alice` in all namespaces.
    pub(crate) async fn with_rules(rules: &Value) -> Cluster {
        let cluster = Cluster::start_with(Cluster::rbac(), []).await;
        cluster.become_alice(rules);
        cluster
    }

    /// Configuration of a server with RBAC.
    pub(crate) fn rbac() -> Config {
        // Over plain HTTP, no credentials are sent.
        Config { authorization: Authorization::Rbac, transport: Transport::Tls, ..Config::default() }
    }

    /// Makes the user of the kubeconfig one with these rules in all namespaces.
    pub(crate) fn become_alice(&self, rules: &Value) {
        let api_version = "rbac.authorization.k8s.io/v1";
        let role = json!({"apiVersion": api_version, "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": rules});
        let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"});
        let subject = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"});
        let binding = json!({"apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
            "roleRef": reference, "subjects": [subject]});
        self.server.load([role, binding]).expect("valid objects");
        self.write_kubeconfig(&self.server.kubeconfig_for(User::new("alice")));
    }

    pub(crate) async fn start_with(config: Config, more: impl IntoIterator<Item = Value>) -> Cluster {
        let cluster = Cluster::empty(config).await;
        cluster.server.load(shop().into_iter().chain(more)).expect("valid objects");
        cluster
    }

    pub(crate) async fn empty(config: Config) -> Cluster {
        let server = Server::start(config).await.expect("a server");
        let cluster = Cluster { folder: tempfile::tempdir().expect("a folder"), server };
        cluster.write_kubeconfig(&cluster.server.kubeconfig());
        cluster
    }

    pub(crate) fn write_kubeconfig(&self, kubeconfig: &str) {
        fs::write(self.kubeconfig(), kubeconfig).expect("written");
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a command with the kubeconfig in the environment, and nothing else of the environment of the test.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-endpoints"));
        command.env_clear().env("KUBECONFIG", self.kubeconfig()).args(line.split(' '));
        command.kill_on_drop(true).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with these words, separated by single spaces.
    pub(crate) async fn run(&self, line: &str) -> Run {
        run(self.command(line)).await
    }
}

pub(crate) async fn run(mut command: Command) -> Run {
    let output = command.output().await.expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().expect("an exit status");
    Run { status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Namespace `shop` with the Service `web` of two Pods, one of them ready, and the Service `typo`, whose selector selects
/// nothing; the empty namespace `quiet`. There are no slices and no Endpoints: no controller runs.
fn shop() -> Vec<Value> {
    let namespace = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let service = |name: &str, app: &str| {
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "shop", "name": name, "labels": {"team": name}},
            "spec": {"selector": {"app": app}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}})
    };
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
    vec![
        namespace("shop"),
        namespace("quiet"),
        node,
        service("web", "web"),
        service("typo", "wbe"),
        pod("web-0", "10.0.0.1", true),
        pod("web-1", "10.0.0.2", false),
    ]
}

/// A running Pod with the label `app: web`.
pub(crate) fn pod(name: &str, address: &str, ready: bool) -> Value {
    let ready = if ready { "True" } else { "False" };
    let condition = json!({"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1"}]},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [condition]}})
}
