//! etcd restored to a state before the Services, under the running controllers, in virtual time.

use std::time::Duration;

use endpoint_controller_manager::Settings;
use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, On, Server, Snapshot};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use tokio::time::sleep;

use crate::program::{Program, node, service};

const SERVICES: usize = 20;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The program on an API server, of which there is a snapshot from before the Services.
struct World {
    server: Server,
    snapshot: Snapshot,
    program: Program,
}

impl World {
    /// Starts the program and waits until it has written slices and Endpoints of all Services.
    async fn start() -> World {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
        server.load([node()]).expect("a node");
        let snapshot = server.snapshot();
        server.load((0..SERVICES).flat_map(service)).expect("Services");
        let mut settings = Settings { leader_election: None, ..Settings::default() };
        settings.client.qps = 0.0;
        let program = Program::start_paused(Config::from_service(server.service()), settings);
        let world = World { server, snapshot, program };
        eventually("writes", &(SERVICES, SERVICES), async || world.writes()).await;
        sleep(seconds(60)).await;
        world
    }

    fn writes(&self) -> (usize, usize) {
        let of = |plural| self.server.requests().count(&On::writes().resource(plural));
        (of("endpointslices"), of("endpoints"))
    }

    /// Rejects lists and watches of a resource.
    fn reject(&self, code: u16, resource: &str) {
        self.server.faults().inject(Fault::reject(code).on(On::any().verb("list").verb("watch").resource(resource)));
    }

    async fn end(self) {
        self.program.stop().await;
        self.server.shutdown().await;
    }
}

/// The lists of one resource come later than the others. Until it has listed, too, the cache of Services has Services
/// that are gone, and that of slices none of their slices.
#[rstest]
#[tokio::test(start_paused = true)]
async fn nothing_is_written_for_services_that_are_gone(
    #[values("services", "pods", "endpoints")] late: &'static str,
    #[values(None, Some(1_000_000))] bump: Option<u64>,
) {
    let world = World::start().await;
    let before = world.writes();
    let delay = Fault::delay_request(seconds(5), seconds(5));
    world.server.faults().inject(delay.on(On::any().verb("list").verb("watch").resource(late)));
    match bump {
        None => world.server.restore(&world.snapshot),
        Some(bump) => world.server.restore_bumped(&world.snapshot, bump),
    }
    sleep(seconds(60)).await;
    assert_eq!(world.writes(), before);
    world.end().await;
}

/// Syncs do not wait for one resource for good, and those of a controller that does not read it do not wait. With a 5xx, all
/// requests of the client may fail meanwhile.
#[rstest]
#[tokio::test(start_paused = true)]
async fn a_resource_that_cannot_be_listed_holds_syncs_for_a_minute(#[values(403, 500)] code: u16) {
    let world = World::start().await;
    world.reject(code, "nodes");
    world.server.restore(&world.snapshot);
    sleep(seconds(10)).await;
    let before = world.writes();
    world.server.load(service(SERVICES)).expect("a Service");
    sleep(seconds(30)).await;
    assert_eq!(world.writes(), (before.0, before.1 + 1), "a cache is behind");
    sleep(seconds(30)).await;
    assert_eq!(world.writes(), (before.0 + 1, before.1 + 1));
    world.end().await;
}

/// Syncs wait for the other caches after a restore although one has been behind for long.
#[tokio::test(start_paused = true)]
async fn a_resource_that_cannot_be_listed_does_not_end_the_wait_for_others() {
    let world = World::start().await;
    world.reject(403, "nodes");
    world.server.faults().cut_watches(&On::any().resource("nodes"));
    sleep(seconds(120)).await;
    let before = world.writes();
    let delay = Fault::delay_request(seconds(5), seconds(5));
    world.server.faults().inject(delay.on(On::any().verb("list").verb("watch").resource("services")));
    world.server.restore(&world.snapshot);
    sleep(seconds(60)).await;
    assert_eq!(world.writes(), before);
    // The next sync does not wait for the cache that is still behind.
    world.server.faults().cut_watches(&On::any().resource("pods"));
    world.server.load(service(SERVICES)).expect("a Service");
    sleep(seconds(20)).await;
    assert_eq!(world.writes(), (before.0 + 1, before.1 + 1));
    world.end().await;
}
