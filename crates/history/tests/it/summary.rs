//! What the summary of several Services says.

use jiff::SignedDuration;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::summary::{Options, text};
use kube_endpoints_history::{Action, Archive, Author, Gap, Kind, Select, Summary};
use kube_endpoints_testing::shop::{self, node, pod, service};
use rstest::rstest;
use serde_json::{Value, json};

use crate::recording::{begin, recorded};
use crate::timeline::start;

/// What happens, and who does it; 1 s apart unless it follows at once.
#[derive(Clone)]
pub(crate) enum Event {
    Put(&'static str, Value),
    /// A change 10 ms after the one before.
    Soon(&'static str, Value),
    Remove(Kind, &'static str),
    Gap,
    /// A write by kubectl of an object that may not be recorded, whose content is unknown.
    Unknown(Kind, &'static str),
}

use Event::{Put, Remove, Soon};

/// Returns a slice with Pods that are ready, and others that are not.
pub(crate) fn slice(service: &str, ready: &[usize], not_ready: &[usize]) -> Value {
    let endpoint = |at: &usize, ready: bool| shop::endpoint(service, *at, [ready, ready, false]);
    let ready = ready.iter().map(|at| endpoint(at, true));
    let endpoints: Vec<Value> = ready.chain(not_ready.iter().map(|at| endpoint(at, false))).collect();
    shop::slice(service, &endpoints)
}

fn endpoints(service: &str, version: &str) -> Value {
    json!({"kind": "Endpoints", "metadata": {"namespace": "shop", "name": service, "resourceVersion": version}})
}

/// Returns the summary of a recording, which begins with a Node and the given objects.
pub(crate) fn summary(before: &[Value], events: &[Event], options: &Options) -> Summary {
    let mut now = start();
    let (mut encoder, mut file) = begin(now, &[], before.iter().chain([&node()]).map(recorded));
    for event in events {
        let before = now;
        now += SignedDuration::from_millis(if matches!(event, Soon(..)) { 10 } else { 1_000 });
        match event {
            Put(manager, object) | Soon(manager, object) => {
                let author = Author { manager: (*manager).into(), ..Author::default() };
                encoder.put(now, Some(&author), recorded(object));
            }
            Remove(kind, name) => {
                let namespace = if *kind == Kind::Node { "" } else { "shop" };
                encoder.remove(now, None, *kind, &ObjectKey::new(namespace, *name));
            }
            Event::Unknown(kind, name) => {
                let author = Author { manager: "kubectl".into(), ..Author::default() };
                encoder.unknown(now, Some(&author), *kind, &ObjectKey::new("shop", *name), Action::Changed);
            }
            Event::Gap => encoder.gap(now, &Gap { since: before, reason: "the watch has ended".into() }),
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    let mut archive = Archive::from_buffers([file]).expect("a history");
    let mut replay = archive.replay(Select::Namespace("shop".into()), start()).expect("a state");
    Summary::of(&mut replay, Some("shop".into()), start(), options).expect("a history")
}

const CONTROLLER: &str = "kube-controller-manager";

/// A Service with one ready Pod, and one with none.
fn web() -> Vec<Value> {
    vec![service("web"), pod("web", 0, true), slice("web", &[0], &[])]
}

fn shown(events: &[Event]) -> String {
    text(&summary(&web(), events, &Options::default())).replace("2026-11-27T14:02:", "")
}

#[test]
fn an_incident_is_summarized() {
    let events = [
        Put("kubelet", pod("web", 0, false)),
        Soon(CONTROLLER, slice("web", &[], &[0])),
        Put(CONTROLLER, endpoints("web", "1")),
        Put("kubelet", pod("web", 0, true)),
        Soon(CONTROLLER, slice("web", &[0], &[])),
        Put("kubectl-apply", service("typo")),
    ];
    let expected = "\
From 00.000Z to 04.020Z: 2 Services, 2 changes of endpoints.

Outages: 1
  shop/web  01.000Z  2.0 s: EP102 not ready; Pod shop/web-0 was changed by kubelet

Not ready since their creation, or since before: 1
  shop/typo  04.020Z  0 ms until the end: EP002 selector app=typo matches none of 1 Pods of the namespace; Service shop/typo was created by kubectl-apply

Slowest from ready Pod to slice: 1
  shop/web  03.010Z  10.1.0.0 (Pod web-0): EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later

Most writes: 1
  shop/web  2 of slices, 1 of Endpoints: kube-controller-manager 3

Flapping Pods: 1
  shop/web-0  2 changes, of web
";
    assert_eq!(shown(&events), expected);
}

/// The outages and what follows, or the first list if there is none.
#[rstest]
#[case::pod_deleted(
    &[Remove(Kind::Pod, "web-0")],
    "shop/web  01.000Z  0 ms until the end: EP103 the Pod no longer exists; Pod shop/web-0 was deleted"
)]
#[case::node_deleted(
    &[Remove(Kind::Node, "n1"), Put("cloud", node())],
    "shop/web  01.000Z  1.0 s: EP303 Node n1 does not exist; Node n1 was deleted"
)]
#[case::service_deleted_in_an_outage(
    &[Put("kubelet", pod("web", 0, false)), Remove(Kind::Service, "web"), Event::Gap],
    "shop/web  01.000Z  1.0 s: EP102 not ready; Pod shop/web-0 was changed by kubelet"
)]
#[case::slice_emptied_by_hand(
    &[Put("kubectl-edit", slice("web", &[], &[])), Put(CONTROLLER, slice("web", &[0], &[]))],
    "shop/web  01.000Z  1.0 s: EP501 not as the controller would write it; EndpointSlice shop/web-x was changed by kubectl-edit"
)]
#[case::replaced_before_the_slice_is_written(
    &[Put("kubelet", pod("web", 1, true)), Remove(Kind::Pod, "web-0"), Put(CONTROLLER, slice("web", &[1], &[]))],
    "shop/web  02.000Z  1.0 s: EP103 the Pod no longer exists; Pod shop/web-0 was deleted"
)]
#[case::relabelled(
    &[Put("kubectl-label", pod("api", 0, true)), Put("helm", json!({"kind": "Pod",
        "metadata": {"namespace": "shop", "name": "web-0", "labels": {"app": "api"}}}))],
    "shop/web  02.000Z  0 ms until the end: EP001 the labels do not match the selector app=web; Pod shop/web-0 was changed by helm"
)]
fn outages_have_a_cause(#[case] events: &[Event], #[case] expected: &str) {
    let text = shown(events);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[2..4], ["Outages: 1", &format!("  {expected}")], "{text}");
}

#[test]
fn a_service_that_is_deleted_has_no_outage() {
    let text = shown(&[Remove(Kind::Service, "web"), Put(CONTROLLER, slice("web", &[], &[]))]);
    assert!(!text.contains("Outages"), "{text}");
}

#[test]
fn a_pod_in_no_slice_is_the_slowest() {
    let events = [
        Put("kubelet", pod("web", 1, true)),
        Put("kubelet", pod("web", 2, true)),
        Soon(CONTROLLER, slice("web", &[0, 2], &[])),
    ];
    let summary = summary(&web(), &events, &Options::default());
    let found =
        summary.propagation.items.iter().map(|it| (it.pod.as_deref(), it.after.as_millis(), it.slice.is_some()));
    assert_eq!(found.collect::<Vec<_>>(), [(Some("web-1"), 1_010, false), (Some("web-2"), 10, true)]);
}

#[test]
fn what_a_gap_hides_is_not_slow() {
    let events = [Put("kubelet", pod("web", 1, true)), Event::Gap, Put(CONTROLLER, slice("web", &[0, 1], &[]))];
    let summary = summary(&web(), &events, &Options::default());
    assert_eq!((summary.propagation.total, summary.gaps.total), (0, 1));
    assert!(
        text(&summary)
            .ends_with("Unknown: 1\n  2026-11-27T14:02:01.000Z to 2026-11-27T14:02:02.000Z: the watch has ended\n")
    );
}

#[test]
fn writes_of_unknown_content_are_listed() {
    let text = shown(&[Event::Unknown(Kind::Node, "n1"), Event::Unknown(Kind::Pod, "web-0")]);
    let expected = "
Unknown: 1
  01.999Z to 02.000Z: Pod shop/web-0 was changed by kubectl, and the audit log does not have its content
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn lists_have_a_limit() {
    let mut before = web();
    let mut events = Vec::new();
    for name in ["a", "b", "c"] {
        before.extend([service(name), pod(name, 0, true), slice(name, &[0], &[])]);
        events.push(Put("kubelet", pod(name, 0, false)));
    }
    let mut options = Options::default();
    (options.top, options.timelines) = (2, 1);
    let summary = summary(&before, &events, &options);
    let services = |of: &[&kube_endpoints_explain::ObjectRef]| of.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(services(&summary.outages.items.iter().map(|it| &it.service).collect::<Vec<_>>()), ["a", "b"]);
    assert_eq!(services(&summary.timelines.items.iter().map(|it| &it.service).collect::<Vec<_>>()), ["a"]);
    assert_eq!((summary.outages.total, summary.timelines.total, summary.services), (3, 4, 4));
    assert!(text(&summary).contains("\n  and 1 more\n"));
}

#[test]
fn text_of_others_does_not_control_the_terminal() {
    let text = shown(&[Put("\u{1b}[2J\nOutages: 9", pod("web", 0, false))]);
    assert!(text.contains("was changed by \u{fffd}[2J Outages: 9\n"), "{text}");
}
