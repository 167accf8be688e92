//! Event handlers: queue the Services that a change affects.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{ControllerBuilder, Urgency};
use kube_endpoint_model::{Endpoints, ObjectKey, Pod, Service, pod_change};
use kube_informer::{Event, HandlerHandle};
use kube_wire::Object as _;

use super::informers::Informers;
use super::superfluous::Superfluous;
use super::unanswered::UnansweredWrites;

/// Queues a Service without delay for each of its events, resyncs included (EP-H1). A deleted one is recorded
/// with its Endpoints, which its sync may delete.
pub(super) fn watch_services(
    controller: &mut ControllerBuilder<ObjectKey>,
    informers: &Informers,
    superfluous: Arc<Superfluous>,
) {
    let endpoints = informers.endpoints.lister();
    controller.watch(&informers.services, "services", move |event: &Event<Service>, keys| {
        let key = event.object().key();
        if let Event::Deleted { object, tombstone } = event {
            let version = (!tombstone).then(|| object.resource_version());
            superfluous.service_deleted(key.clone(), version, || endpoints.get(&key.namespace, &key.name));
        }
        keys.add(key);
    });
}

/// Queues the Services that a change of a Pod affects, after the batch period (EP-H4, EP-H7).
pub(super) fn watch_pods(controller: &mut ControllerBuilder<ObjectKey>, informers: &Informers, batch_period: Duration) {
    let services = informers.services.lister();
    controller.watch(&informers.pods, "pods", move |event: &Event<Pod>, keys| {
        for service in services.read(|_, index| pod_change::services_to_sync(event.states(), index)) {
            let urgency = if service.loses_ready_endpoint { Urgency::High } else { Urgency::Normal };
            keys.add_change_after(service.key, urgency, batch_period);
        }
    });
}

/// Queues a Service whose Endpoints another client deleted, so that they are created again (EP-H5). Adds and updates by
/// other clients queue nothing and remain until the next sync (EC-26): Endpoints may be created before their Service.
///
/// Two more kinds of events queue a Service: events that may deliver an own write without a response, which the last
/// sync did not see; and relists that add or change managed Endpoints, or bring back those that were deleted or that the
/// sweep at the start should have seen. After a restore of etcd, Services may be listed and synced before the restored
/// Endpoints are in the cache. A relist that adds or changes other Endpoints queues nothing, even if they have no Service.
pub(super) fn watch_endpoints(
    controller: &mut ControllerBuilder<ObjectKey>,
    informers: &Informers,
    unanswered: Arc<UnansweredWrites>,
    superfluous: Arc<Superfluous>,
) -> HandlerHandle {
    let (services, endpoints) = (informers.services.lister(), informers.endpoints.lister());
    controller.watch(&informers.endpoints, "endpoints", move |event: &Event<Endpoints>, keys| {
        let key = || event.object().key();
        superfluous.version_seen(|| endpoints.last_resource_version());
        if let Event::Added { object, relisted: true, .. } = event
            && !object.is_leader_lock()
            && services.get(object.namespace(), object.name()).is_none()
        {
            superfluous.found_by_list(object);
        }
        if let Event::Deleted { object, tombstone: true } = event
            && object.is_managed()
            && services.get(object.namespace(), object.name()).is_some()
        {
            superfluous.missing(object);
        }
        let missed = match event {
            Event::Deleted { tombstone, .. } => *tombstone,
            Event::Added { object, relisted, .. } => {
                (*relisted && object.is_managed()) || superfluous.is_brought_back(object)
            }
            Event::Updated { old, new, relisted } => {
                *relisted && (old.is_managed() || new.is_managed() || superfluous.is_brought_back(new))
            }
        };
        if missed || unanswered.contains(event.object()) {
            keys.add(key());
        } else if matches!(event, Event::Deleted { .. }) {
            keys.add_contested(key(), Duration::ZERO);
        }
    })
}

#[cfg(test)]
mod tests {
    use kube_controller::{Controller, Metrics};
    use kube_endpoint_model::well_known::ENDPOINTS_MANAGED_BY_LABEL;
    use kube_endpoint_model::{PodIndex, ServiceIndex};
    use kube_informer::{Informer, ManualSource, WriteThrough};
    use kube_workqueue::Queue;
    use rstest::rstest;
    use serde_json::json;
    use tokio::sync::mpsc;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep_until, timeout};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// The handlers on caches that the test fills, and a controller that records the times of its syncs.
    struct Rig {
        services: ManualSource<Service, ServiceIndex>,
        pods: ManualSource<Pod, PodIndex>,
        endpoints: ManualSource<Endpoints>,
        cache: WriteThrough<Endpoints>,
        unanswered: Arc<UnansweredWrites>,
        synced: mpsc::UnboundedReceiver<Instant>,
        versions: u64,
        _tasks: JoinSet<()>,
    }

    impl Rig {
        /// Starts the controller with one Service, which selects `app=web`, and no other objects.
        fn new(batch_period: Duration) -> Rig {
            let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
            let (pods, pod_source) = ManualSource::with_index(PodIndex::default());
            let (endpoints, endpoints_source): (Informer<Endpoints>, _) = ManualSource::new();
            let informers = Informers { services, pods, endpoints };
            let mut controller = Controller::builder("test", Queue::builder(), Metrics::default());
            watch_pods(&mut controller, &informers, batch_period);
            let unanswered = Arc::new(UnansweredWrites::default());
            let superfluous = Arc::new(Superfluous::default());
            let handler = watch_endpoints(&mut controller, &informers, Arc::clone(&unanswered), superfluous);
            let cache = informers.endpoints.write_through(&handler);
            let (record, synced) = mpsc::unbounded_channel();
            let controller = controller.build(move |key: ObjectKey| {
                assert_eq!(key.to_string(), "ns/web");
                let recorded = record.send(Instant::now());
                async move { recorded }
            });
            let service = json!({"metadata": {"namespace": "ns", "name": "web", "resourceVersion": "1"},
                "spec": {"selector": {"app": "web"}}});
            service_source.replace([read(service)], "1");
            pod_source.replace([], "1");
            endpoints_source.replace([], "1");
            service_source.deliver();
            pod_source.deliver();
            endpoints_source.deliver();
            let mut tasks = JoinSet::new();
            tasks.spawn(async { controller.run(CancellationToken::new()).await.expect("all caches have synced") });
            let (services, pods, endpoints) = (service_source, pod_source, endpoints_source);
            Rig { services, pods, endpoints, cache, unanswered, synced, versions: 1, _tasks: tasks }
        }

        fn pod(&mut self, name: &str, edit: impl FnOnce(&mut serde_json::Value)) -> Pod {
            self.versions += 1;
            let metadata = json!({"namespace": "ns", "name": name, "uid": name, "labels": {"app": "web"},
                "resourceVersion": self.versions.to_string()});
            let status = json!({"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]});
            let mut pod = json!({"metadata": metadata, "spec": {}, "status": status});
            edit(&mut pod);
            read(pod)
        }

        /// Returns the times of the syncs from now until 60 s without one.
        async fn syncs(&mut self) -> Vec<Duration> {
            let start = Instant::now();
            let mut syncs = Vec::new();
            while let Ok(Some(at)) = timeout(Duration::from_secs(60), self.synced.recv()).await {
                syncs.push(at - start);
            }
            syncs
        }
    }

    fn read<T: serde::de::DeserializeOwned>(object: serde_json::Value) -> T {
        serde_json::from_value(object).expect("valid object")
    }

    /// Change of one of the three Pods.
    enum Step {
        Add,
        Update,
        Delete,
    }

    // upstream: TestPodAddsBatching, TestPodUpdatesBatching, TestPodDeleteBatching
    #[rstest]
    #[case::three_adds_with_no_batching(Step::Add, 0, &[0, 200, 400], &[0, 200, 400])]
    #[case::three_adds_in_one_batch(Step::Add, 1_000, &[0, 200, 400], &[1_000])]
    #[case::three_adds_in_two_batches(Step::Add, 1_000, &[0, 200, 1_500], &[1_000, 2_500])]
    #[case::three_updates_with_no_batching(Step::Update, 0, &[0, 200, 400], &[0, 200, 400])]
    #[case::three_updates_in_one_batch(Step::Update, 1_000, &[0, 200, 400], &[1_000])]
    #[case::three_updates_in_two_batches(Step::Update, 1_000, &[0, 200, 1_500], &[1_000, 2_500])]
    #[case::three_deletes_with_no_batching(Step::Delete, 0, &[0, 200, 400], &[0, 200, 400])]
    #[case::three_deletes_in_one_batch(Step::Delete, 1_000, &[0, 200, 400], &[1_000])]
    #[case::three_deletes_in_two_batches(Step::Delete, 1_000, &[0, 200, 1_500], &[1_000, 2_500])]
    #[tokio::test(start_paused = true)]
    async fn pod_changes_are_batched(
        #[case] step: Step,
        #[case] batch_period: u64,
        #[case] changes: &[u64],
        #[case] expected: &[u64],
    ) {
        let mut rig = Rig::new(Duration::from_millis(batch_period));
        let names = ["a", "b", "c"];
        if !matches!(step, Step::Add) {
            for name in names {
                let pod = rig.pod(name, |_| {});
                rig.pods.apply(pod);
            }
            rig.pods.deliver();
            rig.syncs().await;
        }
        let start = Instant::now();
        for (at, name) in changes.iter().zip(names) {
            sleep_until(start + Duration::from_millis(*at)).await;
            let ready = json!([{"type": "Ready", "status": "True"}]);
            let pod = rig.pod(name, |pod| {
                if matches!(step, Step::Update) {
                    pod["status"]["conditions"] = ready;
                }
            });
            match step {
                Step::Add | Step::Update => rig.pods.apply(pod),
                Step::Delete => rig.pods.delete(pod),
            }
            rig.pods.deliver();
        }
        sleep_until(start + Duration::from_secs(60)).await;
        let mut syncs = Vec::new();
        while let Ok(at) = rig.synced.try_recv() {
            syncs.push(u64::try_from((at - start).as_millis()).expect("fits"));
        }
        assert_eq!(syncs, expected);
    }

    // As upstream, a change of the phase alone (EC-2) and writes of Endpoints by other clients (EC-26) queue nothing.
    #[tokio::test(start_paused = true)]
    async fn phase_changes_and_foreign_endpoints_queue_nothing() {
        let mut rig = Rig::new(Duration::ZERO);
        let pod = rig.pod("a", |_| {});
        rig.pods.apply(pod);
        rig.pods.deliver();
        assert_eq!(rig.syncs().await.len(), 1);
        let failed = rig.pod("a", |pod| pod["status"]["phase"] = "Failed".into());
        rig.pods.apply(failed);
        rig.pods.deliver();
        assert_eq!(rig.syncs().await.len(), 0, "EC-2");
        for version in ["2", "3"] {
            rig.endpoints
                .apply(read(json!({"metadata": {"namespace": "ns", "name": "web", "resourceVersion": version}})));
        }
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), 0, "EC-26");
    }

    // upstream: TestEndpointsDeletionEvents
    #[tokio::test(start_paused = true)]
    async fn deleted_endpoints_queue_their_service_without_delay() {
        let mut rig = Rig::new(Duration::from_secs(1));
        let object = json!({"metadata": {"namespace": "ns", "name": "web", "resourceVersion": "2"}});
        rig.endpoints.apply(read(object.clone()));
        rig.endpoints.delete(read(object));
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await, [Duration::ZERO], "the batch period does not apply");
    }

    // Simulation seeds 3028 and 5302: after a restore of etcd, restored Endpoints are listed after the Services were
    // synced.
    #[rstest]
    #[case::managed_is_new(&[], "endpoint-controller", 1)]
    #[case::managed_is_changed(&["2"], "endpoint-controller", 1)]
    #[case::unmanaged_is_new(&[], "other", 0)]
    #[case::unmanaged_is_changed(&["2"], "other", 0)]
    #[tokio::test(start_paused = true)]
    async fn managed_endpoints_changed_by_a_relist_queue_their_service(
        #[case] before: &[&str],
        #[case] manager: &str,
        #[case] expected: usize,
    ) {
        let mut rig = Rig::new(Duration::ZERO);
        let object = |version: &&str| {
            let labels = json!({ ENDPOINTS_MANAGED_BY_LABEL: manager });
            let metadata = json!({"namespace": "ns", "name": "web", "resourceVersion": version, "labels": labels});
            read::<Endpoints>(json!({ "metadata": metadata }))
        };
        rig.endpoints.replace(before.iter().map(object), "9");
        rig.endpoints.replace([object(&"11")], "12");
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), expected);
        rig.endpoints.apply(object(&"13"));
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), 0, "EC-26");
    }

    // EP-H5
    #[rstest]
    #[case::managed("endpoint-controller")]
    #[case::of_another("other")]
    #[tokio::test(start_paused = true)]
    async fn endpoints_that_the_watch_adds_queue_nothing(#[case] manager: &str) {
        let mut rig = Rig::new(Duration::ZERO);
        let labels = json!({ ENDPOINTS_MANAGED_BY_LABEL: manager });
        let metadata = json!({"namespace": "ns", "name": "web", "resourceVersion": "2", "labels": labels});
        rig.endpoints.apply(read(json!({ "metadata": metadata })));
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), 0);
    }

    // Simulation seed 11366.
    #[tokio::test(start_paused = true)]
    async fn events_after_an_unanswered_write_queue_the_service() {
        let mut rig = Rig::new(Duration::ZERO);
        let deliver = |rig: &Rig, version: &str| {
            let object = json!({"metadata": {"namespace": "ns", "name": "web", "resourceVersion": version}});
            rig.endpoints.apply(read(object));
            rig.endpoints.deliver();
        };
        let key = ObjectKey::new("ns", "web");
        rig.unanswered.add(&key);
        for version in ["2", "3"] {
            deliver(&rig, version);
            assert_eq!(rig.syncs().await.len(), 1);
        }
        rig.unanswered.remove(&key);
        deliver(&rig, "4");
        assert_eq!(rig.syncs().await.len(), 0, "EC-26");
    }

    #[tokio::test(start_paused = true)]
    async fn own_writes_queue_nothing() {
        let mut rig = Rig::new(Duration::ZERO);
        let object = |uid: &str, version: &str| {
            let metadata = json!({"namespace": "ns", "name": "web", "uid": uid, "resourceVersion": version});
            read::<Endpoints>(json!({ "metadata": metadata }))
        };
        rig.cache.begin("ns", "web").written(object("a", "3"));
        rig.endpoints.apply(object("a", "3"));
        rig.cache.begin("ns", "web").deleted(&object("a", "3"));
        rig.cache.begin("ns", "web").written(object("b", "5"));
        rig.endpoints.delete(object("a", "4"));
        rig.endpoints.apply(object("b", "5"));
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), 0);
        rig.endpoints.delete(object("b", "6"));
        rig.endpoints.deliver();
        assert_eq!(rig.syncs().await.len(), 1);
        drop(rig.services);
    }
}
