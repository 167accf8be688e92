//! Incidents, and what the timeline of their Service says.

mod causes;
mod segments;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::Settings;
use kube_endpoints_history::timeline::{fold, text};
use kube_endpoints_history::{Archive, Author, Gap, Kind, Select, Timeline};
use kube_endpoints_testing::shop::{self, node};
use rstest::rstest;
use serde_json::{Value, json};

use crate::recording::{begin, recorded};

/// A change, and the newest field manager of the object; after `@`, the time of its entry.
type Step = (&'static str, Put);

#[derive(Clone, Debug)]
enum Put {
    Object(Value),
    Remove(Kind, &'static str),
    /// A gap of some hours.
    Unseen(i64),
}

use Put::{Object, Remove, Unseen};

fn service(selector: &Value) -> Value {
    let mut service = shop::service("web");
    service["spec"]["selector"] = selector.clone();
    service
}

fn pod(at: usize, ready: bool) -> Value {
    shop::pod("web", at, ready)
}

/// Returns an object whose field at a JSON pointer is another one.
fn with(mut object: Value, pointer: &str, field: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    object.pointer_mut(parent).expect("the parent")[name.replace("~1", "/")] = field;
    object
}

fn pod_with(at: usize, pointer: &str, value: Value) -> Value {
    with(pod(at, true), pointer, value)
}

/// Returns an object at a version.
fn versioned(version: u64, object: Value) -> Value {
    with(object, "/metadata/resourceVersion", json!(version.to_string()))
}

/// Returns a slice with endpoints: number of the Pod, ready, serving, terminating.
fn slice(endpoints: &[(usize, bool, bool, bool)]) -> Value {
    let endpoint = |(at, ready, serving, terminating): &(usize, bool, bool, bool)| {
        shop::endpoint("web", *at, [*ready, *serving, *terminating])
    };
    shop::slice("web", &endpoints.iter().map(endpoint).collect::<Vec<_>>())
}

fn ready(pods: &[usize]) -> Value {
    slice(&pods.iter().map(|at| (*at, true, true, false)).collect::<Vec<_>>())
}

pub(crate) fn start() -> Timestamp {
    "2026-11-27T14:02:00Z".parse().expect("a time")
}

/// Records a Service with two ready Pods and the steps, 10 ms apart, and returns its timeline as text.
fn timeline(steps: &[Step]) -> String {
    let objects = [node(), service(&json!({"app": "web"})), pod(0, true), pod(1, true), ready(&[0, 1])];
    text_of(&timeline_of(&objects, steps))
}

fn text_of(timeline: &Timeline) -> String {
    text(timeline, &fold(&timeline.entries)).replace("2026-11-27T14:02:00.", "")
}

fn timeline_of(objects: &[Value], steps: &[Step]) -> Timeline {
    let mut now = start();
    let (mut encoder, mut file) = begin(now, &[], objects.iter().map(recorded));
    for (manager, put) in steps {
        now += SignedDuration::from_millis(10);
        let (manager, time) = manager.split_once('@').unwrap_or((manager, ""));
        let author = Author { manager: manager.into(), time: time.parse().ok(), ..Author::default() };
        match put {
            Object(object) => encoder.put(now, Some(&author), recorded(object)),
            Remove(kind, name) => {
                let namespace = if *kind == Kind::Node { "" } else { "shop" };
                encoder.remove(now, Some(&author), *kind, &ObjectKey::new(namespace, *name));
            }
            Unseen(hours) => {
                let since = now - SignedDuration::from_hours(*hours);
                encoder.gap(now, &Gap { since, reason: "no connection".into() });
            }
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    let mut archive = Archive::from_buffers([file]).expect("a history");
    let web = ObjectKey::new("shop", "web");
    let mut replay = archive.replay(Select::Service(web.clone()), start()).expect("a state");
    Timeline::of_service(&web, Settings::default(), &mut replay, Timestamp::MAX).expect("a history")
}

const CONTROLLER: &str = "kube-controller-manager";

#[rstest]
#[case::not_ready(
    &[("kubelet", Object(pod(0, false))), (CONTROLLER, Object(slice(&[(0, false, false, false), (1, true, true, false)])))],
    "010Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: EP102 not ready; Pod shop/web-0 was changed by kubelet; \
     EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n"
)]
#[case::ready_again(
    &[
        ("kubelet", Object(pod(0, false))),
        (CONTROLLER, Object(slice(&[(0, false, false, false), (1, true, true, false)]))),
        ("kubelet", Object(pod(0, true))),
        (CONTROLLER, Object(ready(&[0, 1]))),
    ],
    "010Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: EP102 not ready; Pod shop/web-0 was changed by kubelet; \
     EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n\
     030Z  10.1.0.0 (Pod web-0): not ready -> ready, 2 ready: no longer EP102 not ready; Pod shop/web-0 was changed by \
     kubelet; EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n"
)]
#[case::drained(
    &[
        ("kubectl", Object(pod_with(0, "/metadata/deletionTimestamp", json!("2026-11-27T14:02:30Z")))),
        (CONTROLLER, Object(slice(&[(0, false, true, true), (1, true, true, false)]))),
        ("kubelet", Remove(Kind::Pod, "web-0")),
        (CONTROLLER, Object(ready(&[1]))),
    ],
    "010Z  10.1.0.0 (Pod web-0): ready -> draining, 1 ready: EP103 terminating; Pod shop/web-0 was changed; \
     EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n\
     030Z  10.1.0.0 (Pod web-0): draining -> absent, 1 ready: EP103 the Pod no longer exists; Pod shop/web-0 was deleted by \
     kubelet; EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n"
)]
#[case::relabelled(
    &[("kubectl-label", Object(pod_with(0, "/metadata/labels/app", json!("api")))), (CONTROLLER, Object(ready(&[1])))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP001 the labels do not match the selector app=web; Pod \
     shop/web-0 was changed by kubectl-label; EndpointSlice shop/web-x was written by kube-controller-manager 10 ms later\n"
)]
#[case::selector(
    &[("helm", Object(service(&json!({"app": "shop"}))))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP001 the labels do not match the selector app=shop; \
     Service shop/web was changed by helm; in no slice\n\
     010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP001 the labels do not match the selector app=shop; \
     Service shop/web was changed by helm; in no slice\n"
)]
#[case::node(
    &[("cloud-controller", Remove(Kind::Node, "n1"))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP303 Node n1 does not exist; Node n1 was deleted by \
     cloud-controller; in no slice\n\
     010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP303 Node n1 does not exist; Node n1 was deleted by \
     cloud-controller; in no slice\n"
)]
#[case::finished(
    &[("kubelet", Object(pod_with(0, "/status/phase", json!("Failed"))))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP101 finished; Pod shop/web-0 was \
     changed by kubelet; in no slice\n"
)]
#[case::new_pod(
    &[("kubelet", Object(pod(2, true))), (CONTROLLER, Object(ready(&[0, 1, 2])))],
    "010Z  10.1.0.2 (Pod web-2): absent -> ready, 3 ready: Pod shop/web-2 was created by kubelet; EndpointSlice shop/web-x \
     was written by kube-controller-manager 10 ms later\n"
)]
#[case::hand_edit(
    &[("kubectl-edit", Object(ready(&[1])))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP501 not as the controller would write it; EndpointSlice \
     shop/web-x was changed by kubectl-edit\n"
)]
#[case::repaired(
    &[("kubectl-edit", Object(ready(&[1]))), (CONTROLLER, Object(ready(&[0, 1])))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP501 not as the controller would write it; EndpointSlice \
     shop/web-x was changed by kubectl-edit\n\
     020Z  10.1.0.0 (Pod web-0): absent -> ready, 2 ready: no longer EP501 now as the controller would write it; \
     EndpointSlice shop/web-x was changed by kube-controller-manager\n"
)]
#[case::service_deleted(
    &[("kubectl", Remove(Kind::Service, "web"))],
    "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP006 the Service no longer exists; Service shop/web was deleted \
     by kubectl; in no slice\n\
     010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP006 the Service no longer exists; Service shop/web was deleted \
     by kubectl; in no slice\n"
)]
fn incidents(#[case] steps: &[Step], #[case] expected: &str) {
    assert_eq!(timeline(steps), expected);
}

#[test]
fn a_rollout_is_one_line() {
    let mut steps: Vec<Step> = vec![("kubelet", Object(pod(0, true)))];
    for at in 0..6 {
        steps.push(("kubelet", Object(pod(at + 10, true))));
        if at < 2 {
            steps.push(("kubectl", Remove(Kind::Pod, ["web-0", "web-1"][at])));
        }
    }
    let expected = "010Z  6 Pods became ready and 2 were removed in 70 ms, never fewer than 2 ready, 6 at the end \
                    (8 changes, 8 in no slice)\n";
    assert_eq!(
        timeline(&steps).split_once("0Z").map(|(_, rest)| rest),
        expected.split_once("0Z").map(|(_, rest)| rest)
    );
}

#[test]
fn clients_see_what_is_done_to_a_slice_by_hand() {
    let pods: Vec<usize> = (0..6).collect();
    let mut objects = vec![node(), service(&json!({"app": "web"})), ready(&pods)];
    objects.extend(pods.into_iter().map(|at| pod(at, true)));
    let deleted = timeline_of(&objects, &[("", Remove(Kind::EndpointSlice, "web-x"))]);
    let expected = "010Z  6 Pods were removed in 0 ms, never fewer than 0 ready, 0 at the end (6 changes)\n";
    assert_eq!(text_of(&deleted), expected);
}

/// As those that have drained, half a minute after they ceased to be ready.
#[test]
fn pods_that_were_not_ready_are_not_removed_again() {
    let pods = ["web-0", "web-1", "web-2", "web-3", "web-4", "web-5"];
    let mut objects = vec![node(), service(&json!({"app": "web"}))];
    objects.extend((0..pods.len()).map(|at| pod(at, false)));
    let text = text_of(&timeline_of(&objects, &pods.map(|name| ("", Remove(Kind::Pod, name)))));
    let expected = "010Z  6 Pods changed in 50 ms, never fewer than 0 ready, 0 at the end (6 changes, 6 in no slice)\n";
    assert_eq!(text, expected);
}

#[test]
fn pods_with_another_port_do_not_become_ready() {
    let pods: Vec<usize> = (0..6).collect();
    let mut objects = vec![node(), service(&json!({"app": "web"})), ready(&pods)];
    objects.extend(pods.into_iter().map(|at| pod(at, true)));
    let service = with(service(&json!({"app": "web"})), "/spec/ports/0/targetPort", json!(9090));
    let text = text_of(&timeline_of(&objects, &[("helm", Object(service))]));
    let expected = "010Z  6 Pods changed in 0 ms, never fewer than 6 ready, 6 at the end (6 changes, 6 in no slice)\n";
    assert_eq!(text, expected);
}

#[test]
fn text_of_others_does_not_control_the_terminal() {
    let text = timeline(&[("\u{1b}[2J\n\u{202e}kubelet", Object(pod(0, false)))]);
    assert!(text.ends_with("was changed by \u{fffd}[2J \u{fffd}kubelet; in no slice\n"), "{text}");
}
