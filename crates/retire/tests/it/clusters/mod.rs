//! Plans of seeded clusters, each with a truth that the test knows.

mod cases;
mod cluster;
mod log;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kube_endpoints_retire::{Plan, Verdict, text};
use kube_endpoints_testing::book::assert_table;

use self::cases::{Case, cases};

/// Number of clusters for which the plan may say that they are not safe, although they are.
const FALSE_NOT_SAFE: usize = 3;

fn answer(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Safe => ("safe", ""),
        Verdict::NotSafe { because } => ("not safe", &because[0]),
        Verdict::Unknown { because, .. } => ("unknown", &because[0]),
    }
}

/// Names of the objects for which the plan says that they are safe.
fn safe_objects(plan: &Plan) -> BTreeSet<&str> {
    plan.objects.iter().filter(|it| it.verdict == Verdict::Safe).map(|it| it.name.as_str()).collect()
}

#[test]
fn no_cluster_is_called_safe_that_is_not() {
    let mut false_not_safe = Vec::new();
    for Case { name, needed, answer: expected, facts } in cases() {
        let plan = facts.plan();
        let safe = safe_objects(&plan);
        for needed in needed.split_whitespace() {
            assert!(!safe.contains(needed), "{name}: {needed} is needed, and called safe: {:#?}", plan.findings);
        }
        let (answer, because) = answer(&plan.verdict);
        assert_eq!(answer, expected, "{name}: {because}\n{}", text(&plan));
        assert!(needed.is_empty() || answer != "safe", "{name}");
        let names_servers = text(&plan).contains(", API servers: ");
        assert_eq!(names_servers, facts.reads.is_some() && !facts.is_merged_log, "{name}");
        if needed.is_empty() && answer == "not safe" {
            false_not_safe.push(name);
        }
        let is_safe = plan.objects.iter().all(|it| it.verdict == Verdict::Safe);
        assert!(plan.verdict != Verdict::Safe || is_safe, "{name}: an object is not safe, and the cluster is");
    }
    assert!(false_not_safe.len() <= FALSE_NOT_SAFE, "{false_not_safe:#?}");
}

#[test]
fn a_plan_is_the_same_after_writing_and_reading() {
    for Case { name, facts, .. } in cases() {
        let plan = facts.plan();
        let json = serde_json::to_string(&plan).expect("JSON");
        assert_eq!(serde_json::from_str::<Plan>(&json).expect("a plan"), plan, "{name}");
    }
}

#[test]
fn the_book_has_the_clusters() {
    let mut table = String::from("| cluster | needed | answer | because |\n|---|---|---|---|\n");
    for Case { name, needed, facts, .. } in cases() {
        let plan = facts.plan();
        let (answer, because) = answer(&plan.verdict);
        let needed = needed.replace(' ', ", ");
        writeln!(table, "| {name} | {needed} | {answer} | {because} |").expect("a String takes everything");
    }
    assert_table("retire", "clusters", &table);
}
