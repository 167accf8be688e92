//! etcd restored from a backup while the API server is away, in virtual time.

use std::{pin::pin, time::Duration};

use kube_controller_client::Config;
use kube_dev_apiserver::{On, Server};
use kube_endpoints_testing::LogLines;
use kube_informer::{Informer, RestoreSignal};
use kube_wire::Decode as _;
use rstest::rstest;
use tokio::time::{Instant, sleep, timeout};
use tracing_subscriber::fmt;

use crate::{
    outages::{Outage, Outages, create, namespace, start},
    server::client_of,
    thing::Thing,
};

const SECOND: Duration = Duration::from_secs(1);
const INFORMERS: usize = 5;

/// After the outage, no store is used before all have the restored state, which takes 3 s at most.
#[rstest]
#[case::versions_assigned_again(None, 1)]
#[case::versions_bumped(Some(1_000_000), 0)]
#[tokio::test(start_paused = true)]
async fn stores_are_settled_once_all_have_the_restored_state(#[case] bump: Option<u64>, #[case] logged: usize) {
    let lines = LogLines::default();
    let writer = lines.clone();
    let _guard = tracing::subscriber::set_default(fmt().with_writer(move || writer.clone()).with_ansi(false).finish());
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let (outages, signal) = (Outages::default(), RestoreSignal::default());
    let (reader, writer) = (client_of(&outages.config(&server)), client_of(&Config::from_service(server.service())));
    let informer =
        |it| Informer::<Thing>::builder(reader.clone()).namespace(&namespace(it)).restores(signal.clone()).build();
    let informers: Vec<_> = (0..INFORMERS).map(informer).collect();
    let _tasks = start(&server, &informers).await;
    for it in 0..INFORMERS {
        create(&writer, it, "old").await;
    }
    let stored = || informers.iter().map(|informer| informer.lister().len()).collect::<Vec<_>>();
    let snapshot = server.snapshot();
    for it in 0..INFORMERS {
        create(&writer, it, "lost").await;
    }
    sleep(60 * SECOND).await;
    let behind_since = || signal.behind_since(&[Thing::RESOURCE]);
    assert_eq!((stored(), behind_since()), (vec![2; INFORMERS], None));

    outages.begin(Outage::Refused, "");
    server.faults().cut_watches(&On::any().verb("watch"));
    sleep(20 * SECOND).await;
    assert!(behind_since().is_some());
    match bump {
        None => server.restore(&snapshot),
        Some(bump) => server.restore_bumped(&snapshot, bump),
    }
    let end = Instant::now();
    outages.end();
    let settled = async {
        while let Some(since) = behind_since() {
            signal.changed(&[Thing::RESOURCE], since).await;
        }
    };
    timeout(60 * SECOND, settled).await.expect("settled");
    assert_eq!(stored(), [1; INFORMERS], "when the stores are settled");
    assert!(end.elapsed() <= 3 * SECOND, "settled after {:?}", end.elapsed());
    assert_eq!(lines.count("etcd of the API server was restored from a backup"), logged);
    sleep(60 * SECOND).await;
    assert_eq!((stored(), behind_since()), (vec![1; INFORMERS], None));
}

/// The server is restored to a state before the version that the store is to reach.
#[tokio::test(start_paused = true)]
async fn a_store_has_caught_up_with_a_server_that_was_restored_meanwhile() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let client = client_of(&Config::from_service(server.service()));
    let informers = [0, 1].map(|it| Informer::<Thing>::builder(client.clone()).namespace(&namespace(it)).build());
    let _tasks = start(&server, &informers).await;
    let snapshot = server.snapshot();
    // The watch does not show the version of an object of another namespace.
    create(&client, 1, "lost").await;
    let mut caught_up = pin!(informers[0].catch_up(5 * SECOND));
    timeout(SECOND, &mut caught_up).await.expect_err("the watch shows the version");
    server.restore(&snapshot);
    timeout(60 * SECOND, caught_up).await.expect("a list of the restored state is new enough");
}
