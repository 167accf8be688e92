//! A Service over several segments, of one run of the recorder or of two.

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::Settings;
use kube_endpoints_history::summary::Options;
use kube_endpoints_history::timeline::{fold, text};
use kube_endpoints_history::{Archive, Author, Encoder, Kind, Replay, Select, Summary, Timeline, What};
use kube_endpoints_testing::shop::{self, node};
use rstest::rstest;
use serde_json::{Value, json};

use super::{CONTROLLER, pod, ready, service, start, versioned, with};
use crate::recording::{self, recorded};

fn at(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// Returns the Service, and the slice that is written then; those of `green` are newer than those of `blue`.
fn selecting(app: &str) -> Value {
    versioned(4 + 2 * u64::from(app == "green"), service(&json!({ "app": app })))
}

fn slice(app: &str, number: usize) -> Value {
    let endpoint = shop::endpoint(app, number, [true, true, false]);
    versioned(5 + 2 * u64::from(app == "green"), shop::slice("web", &[endpoint]))
}

fn blue_and_green() -> [Value; 3] {
    [node(), versioned(2, shop::pod("blue", 0, true)), versioned(3, shop::pod("green", 1, true))]
}

/// Begins a run of the recorder.
fn begin(unknown: &[Kind], objects: &[Value], seconds: i64) -> (Encoder, Vec<u8>) {
    recording::begin(at(seconds), unknown, objects.iter().map(recorded))
}

fn put(encoder: &mut Encoder, seconds: i64, manager: &str, object: &Value) {
    let author = Author { manager: manager.into(), ..Author::default() };
    encoder.put(at(seconds), Some(&author), recorded(object));
}

fn timeline(files: Vec<Vec<u8>>) -> String {
    let mut archive = Archive::from_buffers(files).expect("a history");
    let web = ObjectKey::new("shop", "web");
    let mut replay = archive.replay(Select::Service(web.clone()), start()).expect("a state");
    let timeline = Timeline::of_service(&web, Settings::default(), &mut replay, Timestamp::MAX).expect("a history");
    text(&timeline, &fold(&timeline.entries)).replace("2026-11-27T14:", "")
}

const SWITCHED: &str = "\
02:25.000Z  10.1.0.0 (Pod blue-0): ready -> absent, 1 ready: EP001 the labels do not match the selector app=green; \
Service shop/web was changed by helm; EndpointSlice shop/web-x was written by kube-controller-manager 1.0 s later
02:25.000Z  10.1.0.1 (Pod green-1): absent -> ready, 1 ready: Service shop/web was changed by helm; \
EndpointSlice shop/web-x was written by kube-controller-manager 1.0 s later
";
const CREATED: &str = "\
02:25.000Z  10.1.0.1 (Pod green-1): absent -> ready, 1 ready: Service shop/web was created by helm; \
EndpointSlice shop/web-x was written by kube-controller-manager 1.0 s later
";

/// Ends a segment with a change that concerns no Service, and begins the next one: a reader does not begin with it.
fn next_segment(encoder: &mut Encoder, seconds: i64, file: &mut Vec<u8>) {
    let mut node = node();
    node["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": "a"});
    put(encoder, seconds - 1, "kubelet", &node);
    encoder.end_segment(file).expect("memory");
    encoder.begin_segment(at(seconds), file).expect("memory");
}

/// The Pods that the Service selects then exist since before the segment.
#[rstest]
#[case::another_selector(&[selecting("blue"), slice("blue", 0)], SWITCHED)]
#[case::created(&[], CREATED)]
fn a_later_segment_selects_other_pods(#[case] before: &[Value], #[case] expected: &str) {
    let (mut encoder, mut file) = begin(&[], &[&blue_and_green()[..], before].concat(), 0);
    next_segment(&mut encoder, 20, &mut file);
    put(&mut encoder, 25, "helm", &selecting("green"));
    put(&mut encoder, 26, CONTROLLER, &slice("green", 1));
    encoder.end_segment(&mut file).expect("memory");
    assert_eq!(timeline(vec![file]), expected);
}

#[test]
fn a_segment_after_the_switch_goes_on() {
    let objects = [&blue_and_green()[..], &[selecting("blue"), slice("blue", 0)]].concat();
    let (mut encoder, mut file) = begin(&[], &objects, 0);
    put(&mut encoder, 25, "helm", &selecting("green"));
    put(&mut encoder, 26, CONTROLLER, &slice("green", 1));
    next_segment(&mut encoder, 60, &mut file);
    put(&mut encoder, 65, "kubelet", &versioned(8, shop::pod("green", 1, false)));
    encoder.end_segment(&mut file).expect("memory");
    let expected = "03:05.000Z  10.1.0.1 (Pod green-1): ready -> not ready, 0 ready: EP102 not ready; \
                    Pod shop/green-1 was changed by kubelet; in no slice\n";
    assert_eq!(timeline(vec![file]), format!("{SWITCHED}{expected}"));
}

/// The Pods that it no longer selects still exist.
#[test]
fn a_selector_that_changes_between_two_runs_is_the_cause() {
    let objects = |app, number| [&blue_and_green()[..], &[selecting(app), slice(app, number)]].concat();
    let (mut encoder, mut first) = begin(&[], &objects("blue", 0), 0);
    encoder.end_segment(&mut first).expect("memory");
    let (mut encoder, mut second) = begin(&[], &objects("green", 1), 30);
    encoder.end_segment(&mut second).expect("memory");
    let expected = "\
02:30.000Z  10.1.0.0 (Pod blue-0): ready -> absent, 1 ready: EP001 the labels do not match the selector app=green; \
Service shop/web was changed; EndpointSlice shop/web-x was written 0 ms later
02:30.000Z  10.1.0.1 (Pod green-1): absent -> ready, 1 ready: Service shop/web was changed; \
EndpointSlice shop/web-x was written 0 ms later
02:30.000Z  changes since 02:00.000Z may be missing: the recorder was not running, or could not write
";
    assert_eq!(timeline(vec![first, second]), expected);
}

/// The Pod exists, and has other labels.
#[test]
fn a_pod_that_is_relabelled_between_two_runs_is_not_deleted() {
    let objects = |app: &str| {
        let pod = with(pod(0, true), "/metadata/labels/app", json!(app));
        [node(), service(&json!({"app": "web"})), pod, shop::pod("db", 7, true), ready(&[0])]
    };
    let (_, first) = begin(&[], &objects("web"), 0);
    let (mut encoder, mut second) = begin(&[], &objects("api"), 30);
    encoder.end_segment(&mut second).expect("memory");
    let expected = "\
02:30.000Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP001 the labels do not match the selector app=web; \
Pod shop/web-0 was changed; in no slice
02:30.000Z  changes since 02:00.000Z may be missing: the recorder was not running, or could not write
";
    assert_eq!(timeline(vec![first, second]), expected);
}

/// For instance because the recorder lost the right to list them. Meanwhile, `web-1` replaces `web-0`.
#[test]
fn pods_that_one_run_cannot_read_are_not_deleted() {
    let objects = |at: usize| vec![node(), service(&json!({"app": "web"})), pod(at, true), ready(&[at])];
    let (_, first) = begin(&[], &objects(0), 0);
    let unread: Vec<Value> = objects(0).into_iter().filter(|object| object["kind"] != "Pod").collect();
    let (mut encoder, mut second) = begin(&[Kind::Pod], &unread, 30);
    put(&mut encoder, 40, CONTROLLER, &ready(&[1]));
    encoder.flush(&mut second).expect("memory");
    let (_, third) = begin(&[], &objects(1), 60);
    let files = [first, second, third];

    let mut archive = Archive::from_buffers(files.clone()).expect("a history");
    let mut replay = archive.replay(Select::All, start()).expect("a state");
    let removed = |replay: &mut Replay<'_>| {
        std::iter::from_fn(|| replay.next_change().expect("a history"))
            .filter(|change| matches!(change.what, What::Removed(_)))
            .map(|change| change.seen)
            .collect::<Vec<_>>()
    };
    assert_eq!(removed(&mut replay), [at(60)], "as soon as it is known");
    let mut replay = archive.replay(Select::All, start()).expect("a state");
    let summary = Summary::of(&mut replay, None, start(), &Options::default()).expect("a history");
    assert_eq!((summary.outages.total, summary.not_yet_ready.total), (0, 0), "{summary:?}");
}

/// The Pods are those that it selected when it could be read.
#[test]
fn pods_of_a_service_that_one_run_cannot_read_are_known() {
    let objects = [node(), service(&json!({"app": "web"})), pod(0, true), ready(&[0])];
    let (_, first) = begin(&[], &objects, 0);
    let (mut encoder, mut second) = begin(&[Kind::Service], &[node(), pod(0, true), ready(&[0])], 30);
    put(&mut encoder, 40, "kubelet", &pod(0, false));
    encoder.flush(&mut second).expect("memory");
    let expected = "\
02:30.000Z  changes since 02:00.000Z may be missing: the recorder was not running, or could not write
02:40.000Z  10.1.0.0 (Pod web-0): ready -> not ready, 0 ready: EP102 not ready; Pod shop/web-0 was changed by kubelet; in no slice
";
    assert_eq!(timeline(vec![first, second]), expected);
}
