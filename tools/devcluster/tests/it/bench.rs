//! `devcluster bench` with small clusters: what must hold on a machine of any speed. CPU times, memory and latencies are not
//! checked.

use serde_json::Value;

use crate::program::run;

fn bench(args: &[&str]) -> Value {
    let common = ["bench", "--output=json", "--batch-period=0", "--timeout=10m", "--controller"];
    let controller = concat!(
        env!("CARGO_BIN_EXE_devcluster"),
        " bench-controller --kubeconfig={kubeconfig} --leader-elect=false --secure-port=0 --kube-api-qps=2000 ",
        "--kube-api-burst=4000"
    );
    let exited = run(&[&common[..], &[controller], args].concat());
    assert!(exited.status.success(), "{}", exited.stderr);
    serde_json::from_str(&exited.stdout.join("\n")).unwrap()
}

fn outcome<'a>(report: &'a Value, name: &str) -> &'a Value {
    let outcomes = report["outcomes"].as_array().unwrap();
    outcomes.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn count(outcome: &Value, resource: &str, verb: &str) -> u64 {
    outcome["counts"]["requests"][resource][verb].as_u64().unwrap_or_default()
}

/// Which changes are combined into one write depends on the machine, so their number has no lower limit but that of the
/// scenario, which fails unless slices show the last state of each Pod.
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
    for (resource, verb) in
        ["endpointslices", "endpoints"].into_iter().flat_map(|it| ["create", "update", "delete"].map(|verb| (it, verb)))
    {
        assert_eq!(count(resume, resource, verb), 0, "{verb} of {resource}: {resume:#}");
    }
    for name in ["churn", "latency-50"] {
        let flipped = outcome(&report, name);
        assert_eq!(flipped["changes"], 20);
        assert!(count(flipped, "endpointslices", "update") <= 20, "{flipped:#}");
        assert!(count(flipped, "endpoints", "update") <= 20, "{flipped:#}");
    }
}

#[test]
fn the_table_has_a_row_for_each_measurement() {
    let controller = concat!(
        env!("CARGO_BIN_EXE_devcluster"),
        " bench-controller --kubeconfig={kubeconfig} --leader-elect=false --secure-port=0"
    );
    let sizes = ["--pods=4", "--services=2", "--nodes=2", "--runs=2", "--timeout=10m", "--batch-period=0"];
    let exited = run(&[&["bench", "start", "--controller", controller][..], &sizes].concat());
    assert!(exited.status.success(), "{}", exited.stderr);
    let rows: Vec<&String> = exited.stdout.iter().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    let start = "| start to everything written | 4 Pods, 2 Services, 2 Nodes | 4.9 s CPU, 482 MiB |";
    assert!(rows[2].starts_with(start) && rows[2].ends_with(" | `start` |"), "{rows:?}");
}

#[test]
fn failed_controllers_are_one_line_on_stderr() {
    let exited = run(&["bench", "start", "--pods=1", "--services=1", "--nodes=1", "--controller", "false"]);
    assert!(exited.stderr.contains("the controllers terminated with exit status: 1"), "{}", exited.stderr);
    assert_eq!(exited.status.code(), Some(1));
}
