//! `devcluster serve` with Deployments: by the client of this workspace, and by kubectl.

use std::{path::Path, process::Stdio};

use http::Method;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_endpoint_model::Pod;
use kube_endpoints_testing::{LIMIT, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

use crate::program::Program;

/// A served cluster with its kubeconfig.
struct Served {
    program: Program,
    directory: TempDir,
}

impl Served {
    fn start(args: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("kubeconfig").display().to_string();
        let mut program = Program::start(&[&["serve", "--kubeconfig-out", &out], args].concat());
        program.line("API server:");
        Self { program, directory }
    }

    fn kubeconfig(&self) -> std::path::PathBuf {
        self.directory.path().join("kubeconfig")
    }

    async fn client(&self) -> Client {
        let config = Config::from_kubeconfig(&self.kubeconfig()).await.unwrap();
        Client::new(&config, ClientOptions::default()).unwrap()
    }

    /// Ends the program, which must have printed nothing to standard error.
    fn end(self) {
        self.program.terminate();
        let exited = self.program.wait();
        assert!(exited.status.success() && exited.stderr.is_empty(), "{}", exited.stderr);
    }
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) {
    let patch = method == Method::PATCH;
    let media_type = if patch { "application/merge-patch+json" } else { "application/json" };
    let (code, answer) = client.raw(method, path, Some(media_type), body.to_string().into_bytes()).await.unwrap();
    assert!(code.is_success(), "{path}: {code} {}", String::from_utf8_lossy(&answer));
}

/// Returns images and owners of the Pods that are ready and not being deleted, and the number of all Pods.
async fn pods(client: &Client) -> (Vec<String>, usize) {
    let list = client.get_json("/api/v1/namespaces/default/pods").await.unwrap();
    let items = list["items"].as_array().unwrap();
    let is_ready = |pod: &&Value| {
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        pod["metadata"].get("deletionTimestamp").is_none()
            && conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
    };
    let show = |pod: &Value| {
        let owner = &pod["metadata"]["ownerReferences"][0]["kind"];
        format!("{} of {}", pod["spec"]["containers"][0]["image"], owner).replace('"', "")
    };
    (items.iter().filter(is_ready).map(show).collect(), items.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn deployments_are_rolled_out_scaled_and_deleted() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    let served = Served::start(&[]);
    let client = served.client().await;
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "app:1"}]}});
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    send(&client, Method::POST, DEPLOYMENTS, &json!({"metadata": {"name": "web"}, "spec": spec})).await;
    let of = |image: &str, count: usize| (vec![format!("{image} of ReplicaSet"); count], count);
    eventually("two Pods", &of("app:1", 2), async || pods(&client).await).await;

    let path = format!("{DEPLOYMENTS}/web");
    send(&client, Method::PATCH, &format!("{path}/scale"), &json!({"spec": {"replicas": 3}})).await;
    eventually("three Pods", &of("app:1", 3), async || pods(&client).await).await;

    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "app:2"}]}}}});
    send(&client, Method::PATCH, &path, &image).await;
    eventually("three new Pods", &of("app:2", 3), async || pods(&client).await).await;
    let complete = async || {
        let deployment = client.get_json(&path).await.unwrap();
        let status = &deployment["status"];
        let is_observed = status["observedGeneration"] == deployment["metadata"]["generation"];
        (status["updatedReplicas"].as_i64(), status["availableReplicas"].as_i64(), is_observed)
    };
    eventually("a complete status", &(Some(3), Some(3), true), complete).await;

    // A deleted Pod is replaced; a Pod whose label is changed, too.
    let list = client.get_json("/api/v1/namespaces/default/pods").await.unwrap();
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|it| it["metadata"]["name"].as_str()).collect();
    client.delete::<Pod>("default", names[0], None).await.unwrap();
    client
        .merge_patch::<Pod>("default", names[1], None, &json!({"metadata": {"labels": {"app": "aside"}}}))
        .await
        .unwrap();
    eventually("the Pods are replaced", &of("app:2", 4), async || pods(&client).await).await;

    send(&client, Method::DELETE, &path, &json!({})).await;
    eventually("no Pods", &(Vec::new(), 0), async || pods(&client).await).await;
    let sets = client.get_json("/apis/apps/v1/namespaces/default/replicasets").await.unwrap();
    assert_eq!(sets["items"], json!([]));
    served.end();
}

/// kubectl with a home directory of its own.
async fn kubectl(directory: &Path, line: &str) -> (bool, String) {
    let mut command = Command::new("kubectl");
    command
        .args(line.split_whitespace())
        .env("KUBECONFIG", directory.join("kubeconfig"))
        .env("KUBECACHEDIR", directory.join("cache"))
        .env("HOME", directory)
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(LIMIT, command.output()).await;
    let output = output.unwrap_or_else(|_| panic!("kubectl {line} timed out")).unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_rolls_out_deployments() {
    let found = Command::new("kubectl").args(["version", "--client"]).stdout(Stdio::null()).status().await;
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED kubectl_rolls_out_deployments: kubectl is not installed");
        return;
    }
    let served = Served::start(&[]);
    let directory = served.directory.path();
    for (line, expect) in [
        ("create deployment web --image=nginx --replicas=3", "deployment.apps/web created"),
        ("expose deployment web --port=80", "service/web exposed"),
        ("rollout status deployment/web --timeout=300s", "successfully rolled out"),
        ("get deployments", "web 3/3 3 3"),
        ("scale deployment web --replicas=5", "deployment.apps/web scaled"),
        ("wait deployment/web --for=jsonpath={.status.readyReplicas}=5 --timeout=300s", "condition met"),
        ("set image deployment/web nginx=nginx:2", "image updated"),
        ("rollout status deployment/web --timeout=300s", "successfully rolled out"),
        ("get pods -l app=web -o jsonpath={.items[*].spec.containers[*].image}", "nginx:2 nginx:2 nginx:2"),
        ("rollout restart deployment/web", "restarted"),
        ("rollout status deployment/web --timeout=300s", "successfully rolled out"),
        ("wait deployment/web --for=condition=Available --timeout=300s", "condition met"),
        ("delete deployment web", "deployment.apps \"web\" deleted"),
        ("wait pod -l app=web --for=delete --timeout=300s", ""),
        ("get replicasets,pods", "No resources found"),
    ] {
        let (success, printed) = kubectl(directory, line).await;
        let normalized = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(success && normalized.contains(expect), "kubectl {line}: {printed}");
    }
    served.end();
}
