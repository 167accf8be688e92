//! A deliberately naive slice controller, which the tests of `slice-conformance` use as a controller of somebody else.
//!
//! It polls all objects, and writes slices under a label and a manager of its own for Services with the annotation
//! `naive.example.com/export`. It has no informers, no queue and no back-off, names slices by number, and repairs every
//! difference between a slice and what it would write. With `--defect`, it is broken in one way.
//!
//!     cargo run -p kube-endpoints-conformance -- --profile testing/conformance/examples/naive/profile.yaml \
//!         --controller 'target/debug/examples/naive --kubeconfig={kubeconfig}'

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use http::Method;
use k8s_openapi::api::core::v1 as core;
use kube_controller_client::{Client, ClientOptions, Config, ListParams};
use kube_endpoint_model::{Node, Pod, Service, project};
use kube_endpointslice::{DesiredEndpoint as _, desired_endpoints_from_service_pods};
use kube_wire::{Decode, decode_list};
use serde_json::{Value, json};

const MANAGER: &str = "naive.example.com";
const SERVICE_LABEL: &str = "naive.example.com/service-name";
const EXPORT: &str = "naive.example.com/export";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// Interval at which all objects are listed.
const INTERVAL: Duration = Duration::from_millis(300);
/// Maximum number of endpoints of a slice.
const FULL: usize = 100;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    kubeconfig: PathBuf,
    #[arg(long)]
    defect: Option<Defect>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Defect {
    /// Endpoints and slices are never removed.
    NeverDeletes,
    /// Slices are updated although nothing changed.
    WritesEndlessly,
    /// Endpoints are ready even if their Pods are not.
    IgnoresReadiness,
    /// The process exits after its first slice.
    Crashes,
}

/// State of the cluster.
struct World {
    services: Vec<core::Service>,
    pods: Vec<Arc<Pod>>,
    nodes: HashMap<String, Arc<Node>>,
    /// Slices of this controller, by namespace and name.
    slices: BTreeMap<(String, String), Value>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Err(error) = run().await;
    eprintln!("{error:#}");
    ExitCode::FAILURE
}

async fn run() -> Result<Infallible> {
    let Arguments { kubeconfig, defect } = Arguments::parse();
    let config = Config::from_kubeconfig(&kubeconfig).await?;
    let options = ClientOptions { user_agent: "naive/1".to_owned(), qps: 0.0, ..ClientOptions::default() };
    let client = Client::new(&config, options)?;
    loop {
        if let Err(error) = sync(&client, defect).await {
            eprintln!("{error:#}");
            ensure!(defect != Some(Defect::Crashes), "this is a defect");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn sync(client: &Client, defect: Option<Defect>) -> Result<()> {
    let world = observe(client).await?;
    let mut desired = BTreeMap::new();
    for service in &world.services {
        desired.extend(slices(&world, service, defect));
    }
    for (key, slice) in &mut desired {
        let existing = world.slices.get(key);
        if defect == Some(Defect::NeverDeletes) {
            keep_endpoints(slice, existing);
        }
        let is_due = existing.is_none_or(|it| !is_equal(it, slice) || defect == Some(Defect::WritesEndlessly));
        if is_due {
            let written = put(client, key, existing.is_some(), slice.clone()).await;
            // Other slices are written even if the server rejects one.
            written.unwrap_or_else(|error| eprintln!("{error:#}"));
            ensure!(defect != Some(Defect::Crashes), "the first slice is written");
        }
    }
    for (namespace, name) in world.slices.keys().filter(|key| !desired.contains_key(*key)) {
        if defect != Some(Defect::NeverDeletes) {
            let path = format!("{}/{name}", collection(namespace));
            send(client, Method::DELETE, &path, None).await.unwrap_or_else(|error| eprintln!("{error:#}"));
        }
    }
    Ok(())
}

/// Adds the endpoints of an existing slice whose addresses the desired slice lacks.
fn keep_endpoints(desired: &mut Value, existing: Option<&Value>) {
    let Some(endpoints) = desired["endpoints"].as_array_mut() else { return };
    let old = existing.and_then(|slice| slice["endpoints"].as_array()).into_iter().flatten();
    let lacks = |old: &&Value| !endpoints.iter().any(|it| it["addresses"] == old["addresses"]);
    let mut lacking: Vec<_> = old.filter(lacks).cloned().collect();
    endpoints.append(&mut lacking);
}

fn collection(namespace: &str) -> String {
    format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")
}

/// Creates or updates a slice.
async fn put(client: &Client, (namespace, name): &(String, String), exists: bool, mut slice: Value) -> Result<()> {
    // A number that differs each time, so that no update equals the stored slice.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed).to_string();
    slice["metadata"]["annotations"] = json!({ "naive.example.com/number": number });
    let collection = collection(namespace);
    if exists {
        send(client, Method::PUT, &format!("{collection}/{name}"), Some(&slice)).await
    } else {
        send(client, Method::POST, &collection, Some(&slice)).await
    }
}

async fn observe(client: &Client) -> Result<World> {
    let services = client.get_json("/api/v1/services").await?["items"].take();
    let query = format!("/apis/discovery.k8s.io/v1/endpointslices?labelSelector={MANAGED_BY}%3D{MANAGER}");
    let slices = client.get_json(&query).await?["items"].take();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = |slice: &Value| (text(&slice["metadata"]["namespace"]), text(&slice["metadata"]["name"]));
    let slices = slices.as_array().cloned().unwrap_or_default();
    Ok(World {
        services: serde_json::from_value(services)?,
        pods: list::<Pod>(client).await?.into_iter().map(Arc::new).collect(),
        nodes: list::<Node>(client).await?.into_iter().map(|it| (it.name.to_string(), Arc::new(it))).collect(),
        slices: slices.into_iter().map(|slice| (key(&slice), slice)).collect(),
    })
}

async fn list<T: Decode>(client: &Client) -> Result<Vec<T>> {
    Ok(decode_list(&client.list(&T::RESOURCE, None, &ListParams::default()).await?)?.items)
}

/// Returns the slices of a Service by namespace and name; none for a Service without the annotation or a selector.
fn slices(world: &World, service: &core::Service, defect: Option<Defect>) -> Vec<((String, String), Value)> {
    let metadata = &service.metadata;
    let is_exported = metadata.annotations.as_ref().is_some_and(|it| it.get(EXPORT).is_some_and(|it| it == "true"));
    let is_external = service.spec.as_ref().is_some_and(|spec| spec.type_.as_deref() == Some("ExternalName"));
    let (name, namespace) = (metadata.name.clone().unwrap_or_default(), metadata.namespace.clone().unwrap_or_default());
    let compact: Service = project(service).expect("an object of the API");
    let Some(selector) = compact.selector.as_ref().filter(|_| is_exported && !is_external) else { return Vec::new() };
    let pods = world.pods.iter().filter(|pod| pod.namespace.as_str() == namespace && pod.labels.contains_all(selector));
    let pods: Vec<_> = pods.cloned().collect();
    let endpoints = desired_endpoints_from_service_pods(&compact, &pods, |node| world.nodes.get(node).cloned());
    let mut slices = Vec::new();
    for group in endpoints.groups {
        let mut all: Vec<_> = group.endpoints.iter().map(|it| json!(it.endpoint())).collect();
        all.sort_by_key(ToString::to_string);
        if defect == Some(Defect::IgnoresReadiness) {
            for endpoint in &mut all {
                endpoint["conditions"]["ready"] = json!(true);
            }
        }
        let family = group.address_type.as_str().to_lowercase();
        for endpoints in all.chunks(FULL) {
            let slice_name = format!("{name}-{family}-{}", slices.len());
            let labels = json!({ MANAGED_BY: MANAGER, SERVICE_LABEL: name });
            let slice = json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "metadata": { "name": slice_name, "namespace": namespace, "labels": labels },
                "addressType": group.address_type.as_str(), "ports": group.ports, "endpoints": endpoints,
            });
            slices.push(((namespace.clone(), slice_name), slice));
        }
    }
    slices
}

/// Returns whether an existing slice has the labels, ports and endpoints of the desired one.
fn is_equal(existing: &Value, desired: &Value) -> bool {
    let Some(labels) = desired["metadata"]["labels"].as_object() else { return false };
    let endpoints = |slice: &Value| {
        let mut all = slice["endpoints"].as_array().cloned().unwrap_or_default();
        all.iter_mut().for_each(remove_nulls);
        all
    };
    let ports = |slice: &Value| {
        let mut ports = slice["ports"].as_array().cloned().unwrap_or_default();
        ports.iter_mut().for_each(remove_nulls);
        ports
    };
    endpoints(existing) == endpoints(desired)
        && ports(existing) == ports(desired)
        && existing["addressType"] == desired["addressType"]
        && labels.iter().all(|(key, value)| existing["metadata"]["labels"][key] == *value)
}

fn remove_nulls(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

async fn send(client: &Client, method: Method, path: &str, object: Option<&Value>) -> Result<()> {
    let what = format!("{method} {path}");
    let body = object.map(serde_json::to_vec).transpose()?.unwrap_or_default();
    let content_type = object.map(|_| "application/json");
    let (code, answer) = client.raw(method, path, content_type, body).await.with_context(|| what.clone())?;
    ensure!(code.is_success(), "{what}: {code}: {}", String::from_utf8_lossy(&answer));
    Ok(())
}
