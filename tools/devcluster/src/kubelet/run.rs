//! Execution of the simulated kubelets' orders against the API server.

use http::{Method, StatusCode};
use kube_controller_client::{Client, Error};
use kube_endpoint_model::{Node, Pod};
use kube_wire::{Decode as _, ObjectKey, Uid};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Kubelet, Order, Stopping, decide::node_addresses, patches};
use crate::cluster::{Snapshot, text};

/// Runs the simulated kubelets until a sender of `cluster` or `stopping` is dropped. Fails if a request fails.
pub(crate) async fn run(
    client: Client,
    mut kubelet: Kubelet,
    mut cluster: watch::Receiver<Snapshot>,
    mut stopping: watch::Receiver<Stopping>,
) -> Result<(), Error> {
    loop {
        let snapshot = cluster.borrow_and_update().clone();
        let stopping_state = *stopping.borrow_and_update();
        let decision = kubelet.decide(&snapshot, stopping_state, Instant::now());
        for order in &decision.orders {
            tracing::debug!(?order, "executing kubelet order");
            execute(&client, order, &snapshot).await?;
        }
        let due = async {
            match decision.wake {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = cluster.changed() => if changed.is_err() { return Ok(()) },
            changed = stopping.changed() => if changed.is_err() { return Ok(()) },
            () = due => {}
        }
    }
}

/// Returns the current time in the format of `metav1.Time`, in whole seconds.
fn stamp() -> String {
    kube_ambient::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

async fn execute(client: &Client, order: &Order, cluster: &Snapshot) -> Result<(), Error> {
    let pod = |key: &ObjectKey| cluster.pods.get(key);
    let result = match order {
        Order::RegisterNode { node } => {
            client.merge_patch::<Node>("", node, Some("status"), &patches::registered(&stamp())).await
        }
        Order::Bind { pod: key, uid, node } => bind(client, key, uid, node).await,
        Order::Start { pod: key, addresses } => {
            let Some(pod) = pod(key) else { return Ok(()) };
            let node = cluster.nodes.get(&ObjectKey::new("", text(&pod.value["spec"]["nodeName"])));
            let host = node.map(|node| node_addresses(node)).unwrap_or_default();
            write_status(client, key, &patches::started(&pod.value, addresses, &host, &stamp())).await
        }
        Order::Report { pod: key, containers, ready } => {
            let Some(pod) = pod(key) else { return Ok(()) };
            write_status(client, key, &patches::readiness(&pod.value, *containers, *ready, &stamp())).await
        }
        Order::Lost { pod: key } => {
            let Some(pod) = pod(key) else { return Ok(()) };
            write_status(client, key, &patches::lost(&pod.value, &stamp())).await
        }
        Order::Evict { pod: key, uid } => delete(client, key, uid, None).await,
        // With grace period 0, as a kubelet does after the containers have stopped.
        Order::Remove { pod: key, uid } => delete(client, key, uid, Some(0)).await,
    };
    match result {
        // The object was deleted meanwhile.
        Err(error) if error.is_not_found() => Ok(()),
        result => result,
    }
}

async fn write_status(client: &Client, pod: &ObjectKey, patch: &Value) -> Result<(), Error> {
    client.merge_patch::<Pod>(&pod.namespace, &pod.name, Some("status"), patch).await
}

/// Assigns a Pod to a Node, as a scheduler does.
async fn bind(client: &Client, pod: &ObjectKey, uid: &Uid, node: &str) -> Result<(), Error> {
    let binding = json!({
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": { "name": &*pod.name, "namespace": &*pod.namespace, "uid": uid.to_string() },
        "target": { "kind": "Node", "name": node },
    });
    send(client, Method::POST, pod, "/binding", &binding).await
}

/// Deletes a Pod with a grace period in seconds, or with its own.
async fn delete(client: &Client, pod: &ObjectKey, uid: &Uid, grace_period: Option<u32>) -> Result<(), Error> {
    let options = json!({
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "gracePeriodSeconds": grace_period,
        "preconditions": { "uid": uid.to_string() },
    });
    send(client, Method::DELETE, pod, "", &options).await
}

/// Sends a request about a Pod. A warning is logged if it is refused.
async fn send(client: &Client, method: Method, pod: &ObjectKey, part: &str, body: &Value) -> Result<(), Error> {
    let path = format!("{}/{}{part}", Pod::RESOURCE.path(Some(&pod.namespace)), pod.name);
    let body = body.to_string().into_bytes();
    let (code, _) = client.raw(method.clone(), &path, Some("application/json"), body).await?;
    // The Pod no longer exists, another one has its name, or somebody else has assigned it.
    if !code.is_success() && code != StatusCode::NOT_FOUND && code != StatusCode::CONFLICT {
        tracing::warn!(%pod, %method, %code, "cannot assign or delete a Pod; it stays");
    }
    Ok(())
}
