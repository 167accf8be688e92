//! Rules of the model, with events at explicit times.

use rstest::rstest;

use super::*;
use crate::top::objects::{added, at, deleted, listed, pod, relisted, service, slice, updated};

/// Returns a state of a Pod with this version.
fn version(version: u64, pod: Pod) -> Pod {
    Pod { resource_version: version.into(), ..pod }
}

/// Returns the model after the initial lists: the Service `web` with the ready Pod `p` in the slice `web-1`.
fn shop() -> Model {
    let mut model = Model::default();
    model.slice(&listed(slice("web-1", "web", &[("p", 1, true)])), at(0));
    model.service(&listed(service("web")), at(0));
    model.pod(&listed(pod("p", 1, true)), at(0));
    model
}

fn row(model: &Model, now: u64) -> Row {
    model.rows(Duration::from_millis(now)).remove(0)
}

fn last_latency(model: &Model) -> Option<u128> {
    row(model, 0).latency.map(|latency| latency.last.as_millis())
}

#[test]
fn initial_lists_are_no_changes() {
    let expected = Row {
        service: ObjectKey::new("shop", "web"),
        changes: 0,
        per_minute: 0,
        endpoints: Counts { endpoints: 1, not_ready: 0 },
        latency: None,
    };
    assert_eq!(shop().rows(Duration::ZERO), [expected]);
}

#[test]
fn time_from_the_event_of_a_pod_to_its_slice_is_measured() {
    let mut model = shop();
    model.pod(&updated(pod("p", 1, true), version(2, pod("p", 1, false))), at(100));
    let (old, new) = (slice("web-1", "web", &[("p", 1, true)]), slice("web-1", "web", &[("p", 1, false)]));
    model.slice(&updated(old, new), at(130));
    let Row { changes, per_minute, endpoints, latency, .. } = row(&model, 130);
    assert_eq!((changes, per_minute, endpoints), (1, 1, Counts { endpoints: 1, not_ready: 1 }));
    assert_eq!(latency, Some(Latency { p50: Duration::from_millis(30), last: Duration::from_millis(30) }));
    let key = ObjectKey::new("shop", "web");
    let log: Vec<_> = model.detail(&key).map(|it| it.activity.log().cloned().collect()).unwrap_or_default();
    let expected = SliceChange {
        time: at(130).utc,
        operation: Operation::Updated,
        slice: "web-1".into(),
        before: Counts { endpoints: 1, not_ready: 0 },
        after: Counts { endpoints: 1, not_ready: 1 },
        latency: Some(Duration::from_millis(30)),
    };
    assert_eq!(log, [expected]);
}

/// An event of the Pod `p` at 100 ms, then the endpoints of the slice at 150 ms.
#[rstest]
#[case::not_ready(updated(pod("p", 1, true), version(2, pod("p", 1, false))), &[("p", 1, false)], Some(50))]
#[case::deleted(deleted(pod("p", 1, true)), &[], Some(50))]
#[case::new(added(pod("q", 2, true)), &[("p", 1, true), ("q", 2, true)], Some(50))]
#[case::without_address(added(pod("q", 0, false)), &[], None)]
#[case::no_change_of_the_endpoint(
    updated(pod("p", 1, true), Pod { node_name: "n".into(), ..version(2, pod("p", 1, true)) }), &[], None)]
#[case::slice_is_not_current(updated(pod("p", 1, true), version(2, pod("p", 1, false))), &[("p", 1, true)], None)]
#[case::found_by_a_relist(relisted(pod("p", 1, true), version(2, pod("p", 1, false))), &[("p", 1, false)], None)]
#[case::other_labels(
    updated(pod("p", 1, true), Pod { labels: [("app", "db")].into_iter().collect(), ..version(2, pod("p", 1, true)) }),
    &[], Some(50))]
fn pod_events(#[case] event: Event<Pod>, #[case] endpoints: &[(&str, u8, bool)], #[case] expected: Option<u128>) {
    let mut model = shop();
    model.pod(&event, at(100));
    let (old, new) = (slice("web-1", "web", &[("p", 1, true)]), slice("web-1", "web", endpoints));
    model.slice(&updated(old, new), at(150));
    assert_eq!((row(&model, 150).changes, last_latency(&model)), (1, expected));
}

#[test]
fn the_first_of_several_events_of_a_pod_counts() {
    let mut model = shop();
    model.pod(&added(version(2, pod("q", 2, false))), at(100));
    model.pod(&updated(version(2, pod("q", 2, false)), version(3, pod("q", 2, true))), at(110));
    let slices = |endpoints: &[(&str, u8, bool)]| slice("web-1", "web", endpoints);
    model.slice(&updated(slices(&[("p", 1, true)]), slices(&[("p", 1, true), ("q", 2, false)])), at(120));
    assert_eq!(last_latency(&model), None, "the slice does not show the last state yet");
    let (old, new) = (slices(&[("p", 1, true), ("q", 2, false)]), slices(&[("p", 1, true), ("q", 2, true)]));
    model.slice(&updated(old, new), at(140));
    assert_eq!(last_latency(&model), Some(40));
}

#[test]
fn changes_that_cancel_each_other_are_not_measured() {
    let mut model = shop();
    model.pod(&updated(pod("p", 1, true), version(2, pod("p", 1, false))), at(100));
    model.pod(&updated(version(2, pod("p", 1, false)), version(3, pod("p", 1, true))), at(110));
    let (old, new) = (slice("web-1", "web", &[("p", 1, true)]), slice("web-1", "web", &[("p", 1, true)]));
    model.slice(&updated(old, new), at(5_000));
    assert_eq!(last_latency(&model), None);
}

#[rstest]
#[case::ports(|it: &mut Service| it.ports = vec![kube_endpoint_model::ServicePort::default()], Some(50))]
#[case::version_alone(|_: &mut Service| {}, None)]
#[case::no_selector_any_more(|it: &mut Service| it.selector = None, None)]
fn service_events(#[case] edit: fn(&mut Service), #[case] expected: Option<u128>) {
    let mut model = shop();
    let mut new = Service { resource_version: 2.into(), ..service("web") };
    edit(&mut new);
    model.service(&updated(service("web"), new), at(100));
    model.slice(&added(slice("web-2", "web", &[])), at(150));
    assert_eq!((row(&model, 150).changes, last_latency(&model)), (1, expected));
}

#[test]
fn a_created_service_is_measured_and_a_deleted_one_is_removed() {
    let mut model = shop();
    model.service(&added(service("api")), at(100));
    model.slice(&added(slice("api-1", "api", &[])), at(107));
    assert_eq!((model.services(), last_latency(&model)), (2, Some(7)), "api is the first row");
    model.service(&deleted(service("api")), at(200));
    model.slice(&deleted(slice("api-1", "api", &[])), at(210));
    assert_eq!((model.services(), model.slices.len()), (1, 1));
    assert!(model.detail(&ObjectKey::new("shop", "api")).is_none());
}

#[test]
fn a_service_that_replaces_another_one_starts_without_changes() {
    let mut model = shop();
    model.slice(&added(slice("web-2", "web", &[])), at(10));
    assert_eq!(row(&model, 10).changes, 1);
    model.service(&relisted(service("web"), Service { uid: "new".into(), ..service("web") }), at(20));
    assert_eq!(row(&model, 20).changes, 0);
}

#[test]
fn a_slice_with_another_label_changes_both_services() {
    let mut model = shop();
    model.service(&listed(service("api")), at(0));
    model.slice(&updated(slice("web-1", "web", &[("p", 1, true)]), slice("web-1", "api", &[("p", 1, true)])), at(10));
    let rows: Vec<_> = model.rows(Duration::ZERO).iter().map(|it| (it.changes, it.endpoints.endpoints)).collect();
    assert_eq!(rows, [(1, 1), (1, 0)], "api, web");
}

#[test]
fn details_have_the_slices_and_pods_by_name() {
    let mut model = shop();
    model.slice(&listed(slice("web-0", "web", &[])), at(0));
    model.pod(&listed(pod("a", 3, true)), at(0));
    model.pod(&listed(Pod { labels: [("app", "db")].into_iter().collect(), ..pod("db", 4, true) }), at(0));
    let detail = model.detail(&ObjectKey::new("shop", "web")).expect("the Service exists");
    assert_eq!(detail.slices.iter().map(|it| &*it.metadata.name).collect::<Vec<_>>(), ["web-0", "web-1"]);
    assert_eq!(detail.pods.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["a", "p"]);
}
