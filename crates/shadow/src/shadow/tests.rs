//! The comparison of a controller whose syncs the test holds up, in paused time.

use std::convert::Infallible;
use std::time::Duration;

use kube_controller::{Metrics, Outcome};
use kube_controller_client::{ClientOptions, Config};
use kube_endpoint_model::well_known::SLICE_CONTROLLER_NAME as ENDPOINTSLICE;
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Labels, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex, Write,
};
use kube_informer::ManualSource;
use kube_workqueue::Queue;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;
use crate::Limits;

#[tokio::test(start_paused = true)]
async fn a_change_after_the_plan_of_a_sync_is_the_cause_of_the_next_sync() {
    let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
    let (pods, pod_source) = ManualSource::with_index(PodIndex::default());
    let labels = || -> Labels { [("app", "web")].into_iter().collect() };
    let service = Service { name: "web".into(), selector: Some(labels()), ..Service::default() };
    service_source.replace([service], "1");
    pod_source.replace([], "1");
    let informers = Informers {
        services,
        pods: pods.clone(),
        nodes: ManualSource::<Node>::new().0,
        endpoints: ManualSource::<Endpoints>::new().0,
        slices: ManualSource::<EndpointSlice, _>::with_index(SliceIndex::default()).0,
    };
    let options = Options {
        settle_period: Duration::from_secs(30),
        writer_lease: None,
        compare_period: Duration::from_secs(600),
        limits: Limits::default(),
    };
    let shadow = Shadow::new(&informers, options).unwrap();
    let client = Client::new(&Config::from_url("http://127.0.0.1:1").unwrap(), ClientOptions::default()).unwrap();
    let client = shadow.client::<EndpointSlice>(client, ENDPOINTSLICE);

    let key = ObjectKey::new("", "web");
    let mut builder = Controller::builder("test", Queue::builder(), Metrics::default());
    let changed = key.clone();
    builder.watch(&pods, "pods", move |_, keys| keys.add(changed.clone()));
    let (end, ends) = watch::channel(false);
    let lister = pods.lister();
    let controller = builder.build(move |key: ObjectKey| {
        let (client, lister, mut ends) = (client.clone(), lister.clone(), ends.clone());
        async move {
            let create = Write::Create(EndpointSlice::default());
            let plan: &[_] = if lister.is_empty() { &[] } else { &[create] };
            drop(ends.wait_for(|ends| *ends).await);
            client.sends(&key, || plan);
            Ok::<_, Infallible>(Outcome::Unchanged)
        }
    });
    let controller = shadow.follow(ENDPOINTSLICE, controller);
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    pod_source.deliver();
    shadow.enqueue(ENDPOINTSLICE, &key);
    sleep(Duration::from_secs(1)).await;

    pod_source.apply(Pod { name: "web-1".into(), labels: labels(), ..Pod::default() });
    pod_source.deliver();
    end.send_replace(true);
    sleep(Duration::from_secs(29)).await;
    assert_eq!(shadow.report().json["openMismatches"], 0);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(shadow.report().json["openMismatches"], 1);
}
