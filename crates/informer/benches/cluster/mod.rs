//! Pods of a cluster, and the caches of operators that list them.

use std::{
    any::Any,
    convert::Infallible,
    future::{Future, ready},
    sync::Arc,
};

use bytes::Bytes;
use futures::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt as _,
    client::Body,
    core::ObjectMeta,
    runtime::{WatchStreamExt as _, reflector, reflector::Store, watcher},
};
use kube_endpoints_testing::pods::{OwnerKind, json};
use kube_informer::runtime::{CachedResource, Caches};
use serde::Deserialize;
use serde_json::Value;

/// The fields of a Pod that an operator reads if it follows which Pods are ready.
#[derive(Clone, Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are stored, and not read")]
pub(crate) struct ReadyPod {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Placement,
    #[serde(default)]
    status: Readiness,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Placement {
    node_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Readiness {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are stored, and not read")]
struct Condition {
    r#type: String,
    status: String,
}

kube_informer::projection!(ReadyPod, Pod);

/// Pods in JSON, as a server sends them: copies of a recorded one.
#[derive(Clone)]
pub(crate) struct Pods(Arc<[Bytes]>);

impl Pods {
    pub(crate) fn recorded(count: usize) -> Self {
        Self(json(OwnerKind::ReplicaSet, count).into_iter().map(Bytes::from).collect())
    }

    pub(crate) fn without_managed_fields(&self) -> Self {
        let without = |pod: &Bytes| {
            let mut pod: Value = serde_json::from_slice(pod).expect("JSON");
            pod["metadata"].as_object_mut().expect("metadata").remove("managedFields");
            Bytes::from(pod.to_string())
        };
        Self(self.0.iter().map(without).collect())
    }

    /// Returns the mean size of a Pod in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.iter().map(Bytes::len).sum::<usize>() / self.0.len()
    }

    /// Returns a client of a server that has these Pods, and no connection: bodies are not copied.
    pub(crate) fn client(&self) -> Client {
        let pods = self.clone();
        let serve = move |request: Request<Body>| {
            let frames =
                pods.answer(request.uri().query().unwrap_or_default()).map(|it| Ok::<_, Infallible>(Frame::data(it)));
            ready(Ok::<_, Infallible>(Response::new(StreamBody::new(frames))))
        };
        Client::new(tower::service_fn(serve), "default")
    }

    fn answer(&self, query: &str) -> BoxStream<'static, Bytes> {
        let parameter = |name: &str| query.split('&').find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        if parameter("watch").is_none() {
            let first = parameter("continue").map_or(0, |it| it.parse().expect("a continue token of this server"));
            let limit = parameter("limit").map_or(usize::MAX, |it| it.parse().expect("a limit"));
            return self.page(first, limit).boxed();
        }
        let initial = parameter("sendInitialEvents") == Some("true");
        let events = stream::iter(initial.then(|| self.initial_events()).into_iter().flatten());
        events.chain(stream::pending()).boxed()
    }

    fn page(&self, first: usize, limit: usize) -> impl Stream<Item = Bytes> + use<> {
        let last = first.saturating_add(limit).min(self.0.len());
        let next = if last < self.0.len() { last.to_string() } else { String::new() };
        let head = format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"9000000","continue":"{next}"}},"items":["#
        );
        let pods = self.0.clone();
        let items = (first..last).flat_map(move |at| {
            let comma = if at == first { "" } else { "," };
            [Bytes::from_static(comma.as_bytes()), pods[at].clone()]
        });
        stream::iter([Bytes::from(head)].into_iter().chain(items).chain([Bytes::from_static(b"]}")]))
    }

    fn initial_events(&self) -> impl Iterator<Item = Bytes> + use<> {
        let pods = self.0.clone();
        let events = (0..pods.len()).flat_map(move |at| {
            [Bytes::from_static(br#"{"type":"ADDED","object":"#), pods[at].clone(), Bytes::from_static(b"}\n")]
        });
        let end = br#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9000000","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        events.chain([Bytes::from_static(end), Bytes::from_static(b"\n")])
    }
}

/// Cache of all Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Reflector,
    /// A reflector as the documentation of `kube` advises: `managedFields` are removed before objects are stored.
    PrunedReflector,
    Cache,
    Projection,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Reflector, Self::PrunedReflector, Self::Cache, Self::Projection];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reflector => "reflector",
            Self::PrunedReflector => "reflector, managedFields removed",
            Self::Cache => "cache",
            Self::Projection => "cache of a projection",
        }
    }

    /// Lists the Pods. Returns the store when it is ready, with the stream that fills it.
    pub(crate) async fn fill(self, pods: &Pods) -> Box<dyn Any> {
        let client = pods.client();
        match self {
            Self::Reflector => reflect(client, |_| ()).await,
            Self::PrunedReflector => reflect(client, |pod| pod.managed_fields_mut().clear()).await,
            Self::Cache => cache::<Pod>(client).await,
            Self::Projection => cache::<ReadyPod>(client).await,
        }
    }
}

async fn reflect(client: Client, modify: fn(&mut Pod)) -> Box<dyn Any> {
    let (store, writer) = reflector::store();
    let pods = watcher(Api::<Pod>::all(client), watcher::Config::default()).modify(modify);
    let filling = reflector(writer, pods).for_each(|event| {
        event.expect("the server answers");
        ready(())
    });
    filled(store, filling).await
}

async fn cache<K: CachedResource>(client: Client) -> Box<dyn Any> {
    let caches = Caches::new(client);
    let store = caches.of::<K>().store();
    filled(store, caches.run()).await
}

async fn filled<K>(store: Store<K>, filling: impl Future<Output = ()> + 'static) -> Box<dyn Any>
where
    K: kube::Resource<DynamicType = ()> + Clone + 'static,
{
    let mut filling = Box::pin(filling);
    tokio::select! {
        biased;
        () = &mut filling => unreachable!("watches do not end"),
        ready = store.wait_until_ready() => ready.expect("the writer is kept"),
    }
    Box::new((store, filling))
}
