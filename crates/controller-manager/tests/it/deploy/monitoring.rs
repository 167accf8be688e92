//! Alerts and dashboard use metrics and labels that the binary exports.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::Value;

use super::expression::Expression;
use super::typed::{Alert, Custom, Rules};
use super::{NAME, deploy, documents, text};
use crate::metrics::{Families, exported_metrics};

const ALERTS: &str = "kustomize/components/monitoring/alerts.yaml";
const SHADOW_ALERTS: &str = "kustomize/components/shadow-monitoring/shadow-alerts.yaml";
const DASHBOARD: &str = "grafana/endpoint-controllers.json";

fn alerts() -> Vec<Alert> {
    [ALERTS, SHADOW_ALERTS].into_iter().flat_map(alerts_of).collect()
}

fn alerts_of(file: &str) -> Vec<Alert> {
    let rules: Custom<Rules> = serde_json::from_value(documents(&deploy(file)).remove(0)).expect("rules");
    rules.spec.groups.into_iter().flat_map(|group| group.rules).collect()
}

fn dashboard() -> Value {
    serde_json::from_slice(&std::fs::read(deploy(DASHBOARD)).expect("the dashboard")).expect("JSON")
}

/// A Helm chart cannot read files outside of its directory, so that it has copies.
#[test]
fn chart_copies_of_monitoring_files_are_identical() {
    for file in [ALERTS, SHADOW_ALERTS, DASHBOARD] {
        let name = file.rsplit('/').next().unwrap_or_default();
        let copy = format!("helm/endpoint-controller-manager/files/{name}");
        let read = |path: &str| std::fs::read_to_string(deploy(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(read(file) == read(&copy), "cp deploy/{file} deploy/{copy}");
    }
}

#[test]
fn alerts_have_severity_description_and_runbook() {
    let mut names = BTreeSet::new();
    for Alert { name: alert, labels, annotations, .. } in alerts() {
        assert!(names.insert(alert.clone()), "{alert} twice");
        assert!(["critical", "warning", "info"].contains(&labels["severity"].as_str()), "{alert}");
        let keys: Vec<&str> = annotations.keys().map(String::as_str).collect();
        assert_eq!(keys, ["description", "runbook_url", "summary"], "{alert}");
        let runbook =
            annotations["runbook_url"].strip_prefix("https://github.com/kube-endpoints/kube-endpoints/blob/main/");
        let (page, anchor) = runbook.and_then(|it| it.split_once('#')).expect("a page of ours");
        assert_eq!(anchor, alert.to_lowercase());
        let page = std::fs::read_to_string(deploy("..").join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(page.lines().any(|line| line.trim_start_matches('#') == format!(" {alert}")), "no heading {alert}");
    }
}

/// The job of a release in shadow mode is that of its Service: alerts of a leader never fire for it, and it never
/// resolves them.
#[rstest]
#[case::active(ALERTS, NAME)]
#[case::shadow(SHADOW_ALERTS, "endpoint-controller-manager-shadow")]
fn alerts_select_the_job_of_their_mode(#[case] file: &str, #[case] job: &str) {
    for Alert { name, expr, .. } in alerts_of(file) {
        let jobs: BTreeSet<&str> = expr.split("job=\"").skip(1).filter_map(|piece| piece.split('"').next()).collect();
        assert_eq!(jobs, [job].into(), "{name}");
    }
}

/// Labels used in a template: `{{ $labels.pod }}` -> `pod`.
fn placeholders(template: &str) -> Vec<&str> {
    let pieces = template.split("$labels.").skip(1);
    pieces.map(|piece| piece.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default()).collect()
}

fn check_alerts(exported: &Families) {
    for Alert { name: alert, expr, annotations, .. } in alerts() {
        let labels = Expression::parse(&expr).check(exported);
        for label in annotations.values().flat_map(|template| placeholders(template)) {
            assert!(labels.contains(label), "{alert}: no label {label} of {labels:?}");
        }
    }
}

fn check_dashboard(exported: &Families) {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().expect("panels");
    let (mut ids, mut area) = (BTreeSet::new(), BTreeSet::new());
    for panel in panels {
        let title = text(&panel["title"]);
        assert!(!title.is_empty() && ids.insert(panel["id"].to_string()), "{panel}");
        let position = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
        for x in position("x")..position("x") + position("w") {
            for y in position("y")..position("y") + position("h") {
                assert!(x < 24 && area.insert((x, y)), "{title} covers another");
            }
        }
        if panel["type"] == "row" {
            continue;
        }
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        for target in panel["targets"].as_array().expect("targets") {
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
            let expression = text(&target["expr"]).replace("$__rate_interval", "5m");
            let labels = Expression::parse(&expression).check(exported);
            for piece in text(&target["legendFormat"]).split("{{").skip(1) {
                let label = piece.split("}}").next().unwrap_or_default();
                assert!(labels.contains(label), "{title}: no label {label} of {labels:?}");
            }
        }
    }
}

#[tokio::test]
async fn alerts_and_dashboard_use_exported_metrics() {
    let (exported, _) = exported_metrics().await;
    check_alerts(exported);
    check_dashboard(exported);
}
