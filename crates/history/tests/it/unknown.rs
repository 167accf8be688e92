//! Writes of unknown content.

use std::sync::Arc;

use kube_endpoint_model::{Node, ObjectKey, Pod, Service};
use kube_endpoints_history::{Action, Archive, Author, Kind, Recorded, Select, UnknownWrite, What};
use rstest::rstest;

use crate::recording::{begin, time};

/// Records two Services of one Pod each, and a write of unknown content of each object in the same frame.
fn record(is_complete: bool) -> Archive {
    let node: Recorded = Arc::new(Node { name: "n1".into(), ..Node::default() }).into();
    let of_app = |app: &str| -> [Recorded; 2] {
        let labels = [("app", app)].into_iter().collect();
        let pod = Pod { namespace: "shop".into(), name: format!("{app}-0").into(), labels, ..Pod::default() };
        let selector = Some([("app", app)].into_iter().collect());
        let service = Service { namespace: "shop".into(), name: app.into(), selector, ..Service::default() };
        [Arc::new(pod).into(), Arc::new(service).into()]
    };
    let (mut encoder, mut file) =
        begin(time(0), &[], [node].into_iter().chain(["web", "db"].into_iter().flat_map(of_app)));
    let author = Author { user: "alice".into(), ..Author::default() };
    for (kind, name) in [
        (Kind::Pod, "web-0"),
        (Kind::Pod, "db-0"),
        (Kind::Pod, "new-0"),
        (Kind::Service, "web"),
        (Kind::Service, "db"),
        (Kind::EndpointSlice, "web-x"),
        (Kind::Node, "n1"),
    ] {
        let namespace = if kind == Kind::Node { "" } else { "shop" };
        encoder.unknown(time(4), Some(&author), kind, &ObjectKey::new(namespace, name), Action::Changed);
    }
    if is_complete {
        encoder.end_segment(&mut file).expect("memory");
    } else {
        encoder.flush(&mut file).expect("memory");
    }
    Archive::from_buffers([file]).expect("a history")
}

#[rstest]
#[case::all(Select::All, "web-0 db-0 new-0? web db web-x? n1")]
#[case::namespace(Select::Namespace("shop".into()), "web-0 db-0 new-0? web db web-x? n1")]
#[case::other_namespace(Select::Namespace("quiet".into()), "n1")]
#[case::service(Select::Service(ObjectKey::new("shop", "web")), "web-0 new-0? web web-x? n1")]
fn selected_writes_are_read(#[case] select: Select, #[case] expected: &str, #[values(true, false)] is_complete: bool) {
    let mut archive = record(is_complete);
    let mut replay = archive.replay(select, time(0)).expect("a state");
    let before = replay.objects().count();
    let mut names = Vec::new();
    while let Some(change) = replay.next_change().expect("a history") {
        let What::Unknown(UnknownWrite { key, is_recorded, action, .. }) = change.what else { panic!("{change:?}") };
        assert_eq!((change.author.expect("an author").user.as_str(), action), ("alice", Action::Changed));
        names.push(format!("{}{}", key.name, if is_recorded { "" } else { "?" }));
    }
    assert_eq!(names.join(" "), expected);
    assert_eq!(replay.objects().count(), before, "the last known state stays");
}
