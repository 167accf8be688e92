//! `devcluster bench` with small clusters: correctness of the counts, not performance.

use serde_json::Value;

use crate::program::run;

fn bench(args: &[&str]) -> Value {
    let common = ["bench", "--output=json", "--batch-period=0", "--timeout=10m", "--controller"];
    let controller = concat!(
        env!("CARGO_BIN_EXE_devcluster"),
        " bench-controller --kubeconfig={kubeconfig} --leader-elect=false --secure-port=0 --kube-api-qps={qps} ",
        "--kube-api-burst={burst} --kube-api-content-type={content_type} --updates-batching={batching}"
    );
    let exited = run(&[&common[..], &[controller], args].concat());
    assert!(exited.status.success(), "{}", exited.stderr);
    serde_json::from_str(&exited.stdout.join("\n")).unwrap()
}

fn outcome<'a>(report: &'a Value, name: &str) -> &'a Value {
    let outcomes = report["outcomes"].as_array().unwrap();
    outcomes.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

/// Checks the number of changes that were observed in a slice. The scenario fails if one is missing, except two of one Pod
/// that were combined: on a busy machine, a Pod is ready again before it was written.
fn assert_observed(outcome: &Value, changes: u64) {
    let observed = outcome["latencies"]["count"].as_u64();
    assert!(observed.is_none_or(|it| it <= changes && it % 2 == 0), "{outcome:#}");
}

fn count(outcome: &Value, resource: &str, verb: &str) -> u64 {
    let requests = outcome["counts"]["requests"].as_array().unwrap();
    let found = requests.iter().find(|it| it["resource"] == resource && it["verb"] == verb);
    found.map_or(0, |it| it["count"].as_u64().unwrap())
}

#[test]
fn a_shadow_writes_nothing_and_a_switch_loses_no_change() {
    let report = bench(&["shadow", "switch", "--pods=60", "--services=6", "--nodes=3", "--flips=20", "--rate=50"]);
    let shadow = outcome(&report, "shadow");
    for resource in ["endpointslices", "endpoints"] {
        for (name, verbs) in [("shadow", ["create", "update", "delete"]), ("switch", ["create", "update", "delete"])] {
            let of = outcome(&report, name);
            assert_eq!(verbs.map(|verb| count(of, resource, verb)), [0; 3], "{name}: {of:#}");
        }
    }
    assert_eq!(count(shadow, "pods", "watch"), 1, "{shadow:#}");
    assert_eq!(outcome(&report, "switch-churn")["changes"], 120);
    assert_observed(outcome(&report, "switch-churn"), 120);
}

#[test]
fn limits_are_measured_at_the_default_rate_and_at_auto() {
    let sizes = ["--pods=60", "--services=6", "--nodes=3"];
    let report = bench(&[&["limits", "--flips=20", "--rate=50"][..], &sizes].concat());
    for (name, qps, adaptive) in [("limits-default", 20, Value::Null), ("limits-auto", 2_000, true.into())] {
        let of = outcome(&report, name);
        assert_eq!((&of["pace"]["qps"], &of["pace"]["adaptive"]), (&qps.into(), &adaptive), "{of:#}");
        assert_observed(of, 20);
    }
}

#[test]
fn scrapes_are_measured_under_load() {
    let sizes = ["--pods=60", "--services=6", "--nodes=3"];
    let report = bench(&[&["serving", "--rate=200", "--connections=300", "--load=2s"][..], &sizes].concat());
    for name in ["serving-handshakes", "serving-slow", "serving-tokens"] {
        let of = outcome(&report, name);
        let load = &of["underAttack"];
        for latencies in [&of["latencies"], &load["probes"], &load["keptOpen"]] {
            assert!(latencies["count"].as_u64().unwrap() > 0, "{name}: {of:#}");
        }
        let [attempts, answers] = ["attempts", "answers"].map(|it| load[it].as_u64().unwrap());
        assert!(0 < answers && answers <= attempts, "{name}: {of:#}");
        assert!((10..=1_024).contains(&load["descriptors"].as_u64().unwrap()), "{name}: {of:#}");
    }
    let tokens = &outcome(&report, "serving-tokens")["underAttack"];
    // At most 21 in each of the three periods of a second that two seconds may touch. Whatever is beyond that is rejected; a
    // slow machine may not reach it.
    let [reviews, seconds, answers, rejections] =
        ["tokenReviewsPerSecond", "seconds", "answers", "rejections"].map(|it| tokens[it].as_f64().unwrap());
    let limit = 21.0 * (seconds + 1.0);
    assert!((1.0..=limit).contains(&(reviews * seconds)), "{tokens:#}");
    assert!(answers - rejections <= limit, "{tokens:#}");
}

#[test]
fn each_object_is_written_once_and_each_flip_is_observed() {
    let sizes = ["--pods=60", "--services=6", "--nodes=3"];
    let some = ["start", "resume", "churn", "latency", "--flips=20", "--rate=50"];
    let report = bench(&[&some[..], &sizes].concat());

    let start = outcome(&report, "start");
    assert_eq!((count(start, "endpointslices", "create"), count(start, "endpoints", "create")), (6, 6), "{start:#}");
    for followed in ["endpoints", "endpointslices", "nodes", "pods", "services"] {
        assert_eq!(count(start, followed, "watch"), 1, "{followed}: {start:#}");
    }
    assert_eq!(start["counts"]["refused"], 0, "{start:#}");
    // Each Pod is sent once and has at least 4 KiB in protobuf.
    assert!(start["counts"]["sent"].as_u64().unwrap() > 60 * 4 * 1_024, "{start:#}");
    assert!(start["usage"]["peakKib"].as_u64().unwrap() > 1_024, "{start:#}");

    let resume = outcome(&report, "resume");
    let writes = ["create", "update", "patch", "delete"];
    let written: u64 =
        writes.iter().map(|verb| count(resume, "endpointslices", verb) + count(resume, "endpoints", verb)).sum();
    assert_eq!(written, 0, "{resume:#}");

    for name in ["churn", "latency-50"] {
        let flipped = outcome(&report, name);
        assert_eq!(flipped["changes"], 20);
        // Changes of two Pods of one Service may be combined into one write.
        assert!((1..=20).contains(&count(flipped, "endpointslices", "update")), "{flipped:#}");
        assert!((1..=20).contains(&count(flipped, "endpoints", "update")), "{flipped:#}");
    }
    assert_observed(outcome(&report, "latency-50"), 20);
}

#[test]
fn a_small_million_is_filled_and_observed() {
    let sizes = ["--pods=60", "--services=6", "--nodes=3"];
    let report = bench(&[&["million", "--flips=21", "--rate=50"], &sizes[..]].concat());
    let (filled, flipped) = (outcome(&report, "million-start"), outcome(&report, "million"));
    assert_eq!((count(filled, "endpointslices", "create"), count(filled, "endpoints", "create")), (6, 6), "{filled:#}");
    assert_eq!(flipped["changes"], 21);
    // Two changes of one Pod that are combined show in no slice.
    let observed = flipped["latencies"]["count"].as_u64().unwrap();
    assert!((1..=21).contains(&observed) && observed % 2 == 1, "{flipped:#}");
    assert!(flipped["changesPerSecond"].as_f64().unwrap() > 0.0, "{flipped:#}");
}

#[test]
fn rollout_is_compared_with_the_upstream_model() {
    let report = bench(&["rollout", "--json", "--pods=40", "--nodes=3", "--rate=40"]);
    let rollout = outcome(&report, "rollout");
    assert_eq!((rollout["encoding"].as_str(), &rollout["changes"]), (Some("json"), &Value::from(40)));
    assert!(count(rollout, "endpointslices", "update") > 0, "{rollout:#}");
    assert!(rollout["upstream"]["writes"].as_u64().unwrap() > 0, "{rollout:#}");
}

#[test]
fn adaptive_batching_writes_less() {
    let sizes = ["--pods=20", "--nodes=3", "--rate=50", "--flips=100"];
    let report = bench(&[&["storm", "rollouts", "recreation", "--json"], &sizes[..]].concat());
    for name in ["storm", "rollout-20", "recreation"] {
        let [none, adaptive] = ["none", "adaptive"].map(|batching| outcome(&report, &format!("{name}-{batching}")));
        assert_eq!((&none["pace"]["batching"], &adaptive["pace"]["batching"]), (&"none".into(), &"adaptive".into()));
        for resource in ["endpointslices", "endpoints"] {
            let [before, after] = [none, adaptive].map(|it| count(it, resource, "update"));
            assert!(0 < after && after < before, "{name}, {resource}: {after} updates, without batching {before}");
        }
        assert_eq!(adaptive["upstream"], none["upstream"]);
        for modelled in ["writes", "endpointsWrites"] {
            assert!(adaptive["upstream"][modelled].as_u64().unwrap() > 0, "{adaptive:#}");
        }
        // A removal is not observed if the Pod is gone before it is written.
        assert_eq!(
            adaptive["additions"]["count"].as_u64().is_some_and(|it| it > 0),
            name != "recreation",
            "{adaptive:#}"
        );
    }
}

#[test]
fn report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    bench(&["growth", "--pods=20", "--services=2", "--nodes=2", "--flips=4", "--rate=50", "--report", &path]);
    let results = std::fs::read_to_string(folder.path().join("results.md")).unwrap();
    for row in ["| 20 Pods, 20 of a Service ", "| 2 Services of one namespace, 4 Pods each ", "## Goals"] {
        assert!(results.contains(row), "{results}");
    }
    assert!(folder.path().join("results.json").is_file() && !folder.path().join("memory.svg").exists());
}

#[test]
fn failed_controllers_are_one_line_on_stderr() {
    let exited = run(&["bench", "start", "--pods=1", "--services=1", "--nodes=1", "--controller", "false"]);
    assert!(exited.stderr.contains("the controllers terminated with exit status: 1"), "{}", exited.stderr);
    assert_eq!(exited.status.code(), Some(1));
}
