//! `--kube-api-qps=auto` on a server that rejects writes, in virtual time.

use std::time::Duration;

use endpoint_controller_manager::{LeaderElection, Settings};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Fault, On, Server};
use serde_json::Value;
use tokio::time::sleep;

use crate::program::{Program, node, service};

const SERVICES: usize = 60;

async fn get(client: &Client, path: &str) -> Value {
    client.get_json(path).await.expect("an answer")
}

async fn count(client: &Client, path: &str) -> usize {
    get(client, path).await["items"].as_array().map_or(0, Vec::len)
}

/// While the server rejects all writes of slices and Endpoints, each client sends about one request per second, and the
/// lease is renewed in time. Afterwards everything is written within seconds.
#[tokio::test(start_paused = true)]
async fn everything_is_written_after_rejections_and_the_lease_is_kept() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    server.load(std::iter::once(node()).chain((0..SERVICES).flat_map(service))).expect("objects");
    let config = Config::from_service(server.service());
    let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client");
    for resource in ["endpointslices", "endpoints"] {
        let writes = On::writes().resource(resource);
        server.faults().inject(Fault::too_many_requests(Duration::from_secs(1)).on(writes));
    }
    let mut settings = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
    settings.client.adaptive = true;
    let mut program = Program::start_paused(config, settings);

    sleep(Duration::from_secs(5)).await;
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";
    let mut version = Value::Null;
    for _ in 0..10 {
        let current = get(&client, lease).await["metadata"]["resourceVersion"].take();
        assert_ne!(current, version, "renewed every 2 s");
        version = current;
        sleep(Duration::from_secs(3)).await;
    }
    let hits: Vec<u32> = server.faults().states().iter().map(|state| state.hits).collect();
    // The requests that were in flight at first, and one per second.
    assert!(hits.iter().all(|hits| (20..50).contains(hits)), "{hits:?}");
    assert!(!program.has_ended());

    server.faults().clear();
    let mut seconds = 0;
    let (slices, endpoints) =
        ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "/api/v1/namespaces/default/endpoints");
    while count(&client, slices).await < SERVICES || count(&client, endpoints).await < SERVICES {
        sleep(Duration::from_secs(1)).await;
        seconds += 1;
        // Keys whose requests failed 10 times are in the back-off of the work queue.
        assert!(seconds < 30, "not everything is written");
    }
    program.stop().await;
}
