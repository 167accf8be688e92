//! The history of a cluster that does not serve a resource, or does not allow to read it, in virtual time.

use std::path::Path;
use std::time::Duration;

use endpoint_controller_manager::{HistorySettings, Mode, Settings};
use jiff::Timestamp;
use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_history::{Archive, Kind, Recorded, Select};
use kube_endpoints_testing::{LogLines, until};
use rstest::rstest;
use serde_json::{Value, json};

use crate::program::{Program, node, service};

/// A slice that no controller of the program writes.
fn slice() -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [],
        "metadata": {"name": "other", "namespace": "default", "labels": {"kubernetes.io/service-name": "web-0"}},
    })
}

/// The kinds that the newest segment lacks, and those of which it has objects at its end.
#[derive(Debug, PartialEq, Eq)]
struct Recording {
    unknown: Vec<Kind>,
    known: Vec<Kind>,
}

fn read(dir: &Path) -> Option<Recording> {
    let mut archive = Archive::open(dir).ok()?;
    let replay = archive.replay(Select::All, Timestamp::MAX).ok()?;
    let mut known: Vec<Kind> = replay.objects().map(Recorded::kind).collect();
    known.sort();
    known.dedup();
    Some(Recording { unknown: replay.header()?.unknown.clone(), known })
}

/// Discovery requests: the only ones without a resource.
fn discovery() -> On {
    On::any().verb("get").resource("")
}

#[rstest]
#[case::slices_not_served(Fault::reject(404).on(discovery()), Kind::EndpointSlice, "endpointslices")]
#[case::slices_forbidden(Fault::reject(403).on(On::any().resource("endpointslices")), Kind::EndpointSlice, "endpointslices")]
#[case::nodes_forbidden(Fault::reject(403).on(On::any().resource("nodes")), Kind::Node, "nodes")]
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_recorded_once_it_can(
    #[case] fault: Fault,
    #[case] lacked: Kind,
    #[case] resource: &str,
    #[values(Mode::Active, Mode::Shadow)] mode: Mode,
) {
    if mode == Mode::Shadow && !cfg!(feature = "shadow") {
        return;
    }
    let lines = LogLines::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(log);
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    server.load([node(), slice()].into_iter().chain(service(0))).expect("objects");
    let fault = server.faults().inject(fault);
    let folder = tempfile::tempdir().expect("a folder");
    let dir = Some(folder.path().to_owned());
    let history = HistorySettings { dir, max_size: 4 << 20, max_age: Duration::from_secs(3_600) };
    let settings = Settings { leader_election: None, mode, history: Some(history), ..Settings::default() };
    let program = Program::start_paused(Config::from_service(server.service()), settings);

    let is_rest = |it: &Option<Recording>| it.as_ref().is_some_and(|it| it.known.contains(&Kind::Pod));
    let rest = until("history of the rest", async || read(folder.path()), is_rest).await.expect("a history");
    assert_eq!(rest.unknown, [lacked]);
    assert!(!rest.known.contains(&lacked), "{rest:?}");
    let log = lines.text();
    assert!(log.contains("The history lacks resources") && log.contains(&format!("resources=\"{resource}\"")), "{log}");

    server.faults().remove(fault);
    let is_whole = |it: &Option<Recording>| it.as_ref().is_some_and(|it| it.known.contains(&lacked));
    let whole = until("history of all", async || read(folder.path()), is_whole).await.expect("a history");
    assert_eq!(whole.unknown, []);
    program.stop().await;
    server.shutdown().await;
}
