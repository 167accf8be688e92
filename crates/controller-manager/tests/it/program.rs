//! The program in this process.

use endpoint_controller_manager::{Settings, run};
use kube_ambient::Simulated;
use kube_controller_client::Config;
use kube_endpoints_testing::virtual_clocks;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) struct Program {
    stop: CancellationToken,
    tasks: JoinSet<()>,
    _clocks: Option<Simulated>,
}

impl Program {
    pub(crate) fn start(config: Config, settings: Settings) -> Program {
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let running = Box::pin(run(config, settings, stop.clone()));
        tasks.spawn(async move { running.await.expect("the program runs until it is stopped") });
        Program { stop, tasks, _clocks: None }
    }

    /// Starts the program in a test that pauses time, with which all clocks of the program advance.
    pub(crate) fn start_paused(config: Config, settings: Settings) -> Program {
        let clocks = virtual_clocks(1);
        Program { _clocks: Some(clocks), ..Program::start(config, settings) }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.tasks.try_join_next().is_some()
    }

    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        self.tasks.join_next().await.expect("the program").expect("no panic");
    }
}

/// The only Node of [`service`].
pub(crate) fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
}

/// The Service `web-AT` and its ready Pod of the same name.
pub(crate) fn service(at: usize) -> [Value; 2] {
    let (name, ip) = (format!("web-{at}"), format!("10.1.0.{}", at + 1));
    let spec = json!({"selector": {"app": name}, "ports": [{"port": 80}]});
    let metadata = json!({"name": name, "namespace": "default", "labels": {"app": name}});
    let conditions = json!([{"type": "Ready", "status": "True"}]);
    let status = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": conditions});
    let pod = json!({"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1"}]});
    [
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod, "status": status}),
    ]
}
