//! Writes of unknown content.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{Node, ObjectKey, Pod, Service};
use kube_endpoints_history::{Action, Archive, Author, Encoder, Kind, Select, UnknownWrite, What};
use rstest::rstest;

fn start() -> Timestamp {
    "2026-11-27T14:00:00Z".parse().expect("a time")
}

/// Records two Services of one Pod each, and a write of unknown content of each object in the same frame.
fn record(is_complete: bool) -> Archive {
    let (mut encoder, mut file) = (Encoder::new("test", []).expect("memory"), Vec::new());
    encoder.put(start(), None, Arc::new(Node { name: "n1".into(), ..Node::default() }));
    for app in ["web", "db"] {
        let labels = [("app", app)].into_iter().collect();
        let pod = Pod { namespace: "shop".into(), name: format!("{app}-0").into(), labels, ..Pod::default() };
        let selector = Some([("app", app)].into_iter().collect());
        let service = Service { namespace: "shop".into(), name: app.into(), selector, ..Service::default() };
        encoder.put(start(), None, Arc::new(pod));
        encoder.put(start(), None, Arc::new(service));
    }
    encoder.begin_segment(start(), &mut file).expect("memory");
    let author = Author { user: "alice".into(), ..Author::default() };
    let seen = start() + SignedDuration::from_secs(1);
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
        encoder.unknown(seen, Some(&author), kind, &ObjectKey::new(namespace, name), Action::Changed);
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
    let mut replay = archive.replay(select, start()).expect("a state");
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
