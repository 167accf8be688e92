//! Slices with the addresses of Pods on a secondary network, as Multus attaches it and writes them into an annotation of
//! the Pod. Annotations of the Service, which has no selector, name the network and the value of the label `app` of its Pods.
//!
//! The slices have labels of their own and are for consumers on that network, not for Services: kube-proxy and DNS ignore
//! them. To give kube-proxy a Service on the secondary network, use `Options::for_services` and `SliceLabels::for_service`.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- secondary_network

use std::sync::Arc;

use kube_controller_program::{
    CancellationToken, Client, Controller, EventRecorder, EventType, Lister, NamedIndexes, ObjectReference,
};
use kube_endpoint_model::well_known::SERVICE_PROXY_NAME_LABEL;
use kube_endpoint_model::{
    Address, Addresses, AnnotationKeys, Annotations, IpFamily, LabelIndex, ObjectKey, Pod, Service, With, membership,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Reconciled, Reconciler, SliceLabels, endpoint_at};
use serde_json::Value;

use super::{Result, numbered_ports};

/// Annotation of a Service: the network of its endpoints.
const NETWORK: &str = "example.com/network";
/// Annotation of a Service: the label `app` of its Pods. For a selector, Kubernetes would also create slices.
const APP: &str = "example.com/app";
/// Annotation of a Pod: a JSON array of its networks, with their `name` and `ips`.
const STATUS: &str = "k8s.v1.cni.cncf.io/network-status";

struct Keys;

impl AnnotationKeys for Keys {
    fn keeps(key: &str) -> bool {
        [NETWORK, APP, STATUS].contains(&key)
    }
}

type Annotated<T> = With<T, Annotations<Keys>>;

struct Context {
    services: Lister<Annotated<Service>, NamedIndexes<Annotated<Service>>>,
    pods: Lister<Annotated<Pod>, LabelIndex<Annotated<Pod>>>,
    recorder: EventRecorder,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "networks.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let mut controller = Controller::new(NAME, client);
    let recorder = controller.recorder();
    let app = |it: &Annotated<Service>| Vec::from_iter(it.part.get(APP).map(|app| format!("{}/{app}", it.namespace)));
    let services = controller.informer().index(NamedIndexes::new().with("app", app)).build();
    let pods = controller.informer().index(LabelIndex::default()).build();
    // Consumers find the slices of a Service by this label.
    let options = Options::new(NAME).owner_label("networks.example.com/service").placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let controller = controller.primary(&services).owns_slices(&reconciler);
    let controller = controller.watches(&pods, |pod: &Annotated<Pod>, services| {
        let app = format!("{}/{}", pod.namespace, pod.labels.get("app").unwrap_or_default());
        services.bucket("app", &app).map(|it| ObjectKey::new(&*it.namespace, &*it.name)).collect::<Vec<_>>()
    });
    let context = Context { services: services.lister(), pods: pods.lister(), recorder, reconciler };
    Ok(controller.run(stop, context, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { services, pods, recorder, reconciler } = &*context;
    let Some(service) = services.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let annotation = |name| service.part.get(name).unwrap_or_default();
    let selector = [("app", annotation(APP))].into_iter().collect();
    let families = [IpFamily::V4, IpFamily::V6];
    let ports = numbered_ports(&service);
    let mut desired = families.map(|family| DesiredGroup {
        address_type: family.into(),
        ports: ports.clone(),
        endpoints: Vec::new(),
    });
    // Pods that have ended, or are not scheduled, have no endpoint.
    let mut pods = pods.read(|_, index| index.select(&key.namespace, &selector));
    pods.retain(|pod| membership::exclusion(&**pod, true).is_none());
    for pod in &pods {
        let (addresses, rejected) = addresses(pod, annotation(NETWORK));
        for (family, group) in families.iter().zip(&mut desired) {
            let of_family: Addresses = addresses.iter().filter(|it| it.family() == Some(*family)).cloned().collect();
            group.endpoints.extend((!of_family.is_empty()).then(|| endpoint_at(&**pod, of_family)));
        }
        if !rejected.is_empty() {
            let message = format!("Ignored in the annotation {STATUS}: {}", rejected.join(", "));
            recorder.event(&ObjectReference::to(&**pod), EventType::Warning, "InvalidNetworkStatus", message);
        }
    }
    // The second label keeps kube-proxy from logging errors.
    let labels = service.labels.with([(SERVICE_PROXY_NAME_LABEL, NAME)]);
    let (owner, labels) = (Owner::service(&service), SliceLabels::carry(&labels));
    let (types, existing) = (families.map(Into::into), reconciler.existing_slices(&key).await?);
    Ok(reconciler.reconcile(Input::new(&owner, &types, desired.into(), &existing).labels(&labels), None).await?)
}

/// Returns the addresses of a Pod on a network, and what is wrong with the others: one address that the API server rejects
/// would fail the writes for all Pods of its family.
fn addresses(pod: &Annotated<Pod>, network: &str) -> (Vec<Address>, Vec<String>) {
    let Some(status) = pod.part.get(STATUS) else { return Default::default() };
    let status: Vec<Value> = match serde_json::from_str(status) {
        Ok(status) => status,
        Err(error) => return (Vec::new(), vec![error.to_string()]),
    };
    let networks = status.iter().filter(|it| it["name"] == network);
    let ips = networks.filter_map(|it| it["ips"].as_array()).flatten().filter_map(Value::as_str);
    let (mut addresses, mut rejected) = (Vec::new(), Vec::new());
    for ip in ips {
        match Address::checked(ip) {
            Ok(address) => addresses.push(address),
            Err(error) => rejected.push(format!("{ip}: {error}")),
        }
    }
    (addresses, rejected)
}
