//! Writes by clients with different names.

use kube_controller_client::http::Method;
use kube_controller_client::{Client, ClientOptions, Config};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// A request of a client.
#[derive(Clone, Debug)]
pub(super) struct Write {
    /// Name of the client, which becomes the field manager.
    actor: &'static str,
    method: Method,
    /// Resource, name and subresource.
    path: String,
    body: Value,
}

pub(super) fn merge(actor: &'static str, path: &str, patch: Value) -> Write {
    Write { actor, method: Method::PATCH, path: path.to_owned(), body: patch }
}

/// Sets fields of the status of a Pod.
pub(super) fn status(actor: &'static str, pod: &str, status: &Value) -> Write {
    merge(actor, &format!("pods/{pod}/status"), json!({"status": status}))
}

pub(super) fn create(actor: &'static str, resource: &str, object: Value) -> Write {
    Write { actor, method: Method::POST, path: resource.to_owned(), body: object }
}

pub(super) fn delete(actor: &'static str, path: &str) -> Write {
    Write { actor, method: Method::DELETE, path: path.to_owned(), body: json!({}) }
}

impl Write {
    /// Sends the request. The path `endpointslices/*` is the slice of the controllers.
    pub(super) async fn send(&self, cluster: &Cluster, namespace: &str) {
        let client = client(cluster, self.actor).await;
        let path = match self.path.strip_prefix("endpointslices/*") {
            Some(_) => format!("endpointslices/{}", slice(&client, namespace).await),
            None => self.path.clone(),
        };
        send(&client, self.method.clone(), &absolute(namespace, &path), &self.body).await;
    }
}

/// Creates objects, by namespace, as another client did long ago.
pub(super) async fn set_up(cluster: &Cluster, objects: impl IntoIterator<Item = (String, Value)>) {
    let client = client(cluster, "setup").await;
    for (namespace, mut object) in objects {
        let status = object["status"].take();
        let plural = object["kind"].as_str().expect("a kind").to_lowercase();
        let plural = if plural.ends_with('s') { plural } else { format!("{plural}s") };
        let is_pod = plural == "pods";
        if !is_pod {
            object["status"] = status.clone();
        }
        send(&client, Method::POST, &absolute(&namespace, &plural), &object).await;
        if is_pod {
            let path =
                absolute(&namespace, &format!("pods/{}/status", object["metadata"]["name"].as_str().expect("a name")));
            send(&client, Method::PATCH, &path, &json!({"status": status})).await;
        }
    }
}

async fn client(cluster: &Cluster, actor: &str) -> Client {
    let config = Config::from_kubeconfig(&cluster.kubeconfig()).await.expect("a kubeconfig");
    let options = ClientOptions { user_agent: format!("{actor}/1.0"), qps: 0.0, ..ClientOptions::default() };
    Client::new(&config, options).expect("a client")
}

fn absolute(namespace: &str, path: &str) -> String {
    match path.split(['/', '?']).next() {
        Some("nodes" | "namespaces") => format!("/api/v1/{path}"),
        Some("endpointslices") => format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/{path}"),
        _ => format!("/api/v1/namespaces/{namespace}/{path}"),
    }
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) {
    let content = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = serde_json::to_vec(body).expect("JSON");
    let (status, answer) = client.raw(method, path, Some(content), body).await.expect("an answer");
    assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
}

async fn slice(client: &Client, namespace: &str) -> String {
    let list = client.get_json(&absolute(namespace, "endpointslices")).await.expect("a list");
    list["items"][0]["metadata"]["name"].as_str().expect("a slice").to_owned()
}
