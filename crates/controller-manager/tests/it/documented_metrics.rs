//! Compares the metrics that the program serves for each emulated version with those that the version documents.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;

use crate::metrics::{
    Families, Family, NOT_IMPLEMENTED, OWN_PREFIXES, UPSTREAM_METRICS, exported_metrics, exported_metrics_with,
    families,
};

const DOCUMENTED: &str = include_str!("../fixtures/documented-metrics.txt");

/// Type, stage and labels.
type Documented = (String, String, BTreeSet<String>);

fn documented(minor: u32) -> BTreeMap<&'static str, Documented> {
    let lines = DOCUMENTED.lines().filter(|line| !line.starts_with('#'));
    let metrics = lines.filter_map(|line| {
        let [name, kind, stage, labels, since] = line.split(' ').collect::<Vec<_>>().try_into().expect("five columns");
        let since: u32 = since.strip_prefix("1.").expect("a version").parse().expect("a minor version");
        let labels = labels.split(',').filter(|label| *label != "-").map(str::to_owned).collect();
        (since <= minor).then(|| (name, (kind.to_owned(), stage.to_owned(), labels)))
    });
    metrics.collect()
}

/// Returns type, stage and labels as the program serves them.
fn served(family: &Family) -> Documented {
    let stage = family.help.strip_prefix('[').and_then(|help| help.split_once(']')).map_or("", |(stage, _)| stage);
    (family.kind.clone(), stage.to_owned(), family.labels.iter().flatten().cloned().collect())
}

#[rstest]
#[case::default(None, 36)]
#[case::of_1_37(Some("--emulated-version=1.37"), 37)]
#[case::of_1_38(Some("--emulated-version=1.38"), 38)]
#[tokio::test]
async fn metrics_of_each_version_are_those_that_it_documents(#[case] flag: Option<&str>, #[case] minor: u32) {
    let (metrics, health) = match flag {
        None => exported_metrics().await.clone(),
        Some(flag) => exported_metrics_with(&[flag]).await,
    };
    let all: Families = metrics.into_iter().chain(health).collect();
    let documented = documented(minor);
    let missing: Vec<&str> = documented.keys().copied().filter(|name| !all.contains_key(*name)).collect();
    let not_implemented: Vec<&str> = documented.keys().copied().filter(|name| NOT_IMPLEMENTED.contains(name)).collect();
    assert_eq!(missing, not_implemented);
    for (name, family) in &all {
        if let Some(expected) = documented.get(name.as_str()) {
            assert_eq!(served(family), *expected, "{name}");
        }
    }
    // Some metrics that Kubernetes serves are not in its documentation: those are recorded.
    let recorded = families(UPSTREAM_METRICS);
    let is_upstream = |name: &str| documented.contains_key(name) || recorded.contains_key(name);
    let unknown: Vec<&String> =
        all.keys().filter(|name| !is_upstream(name) && !OWN_PREFIXES.iter().any(|it| name.starts_with(it))).collect();
    assert_eq!(unknown, Vec::<&String>::new());
}
