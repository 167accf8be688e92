//! The table of broken Services in the book. `UPDATE_DOCS=1` writes it.

use std::collections::BTreeSet;

use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_endpoints_explain::Reason;
use kube_endpoints_testing::book::assert_table;

use crate::broken::{broken, cases, explained};

#[test]
fn the_book_shows_what_is_reported() {
    assert_table("explain", "broken-services", &table());
}

/// Returns a row for the first state of each code.
fn table() -> String {
    let header = "| the state | `Endpoints` in `kubectl describe service` | mark and first cause in `kubectl endpoints explain` |\n\
                  |---|---|---|\n";
    let mut seen = BTreeSet::new();
    let row = |case| {
        let (mark, first, _) = explained(case);
        let Reason { code, message } = first.filter(|reason| seen.insert(reason.code))?;
        let (described, message) = (described(&broken(case).slices), message.replace('|', "\\|"));
        Some(format!("| {} | {described} | {mark} [{code}](codes.md#{code}): {message} |\n", case.fault))
    };
    let rows: String = cases().filter_map(row).collect();
    format!("{header}{rows}")
}

/// Returns what `kubectl describe service` shows as endpoints (kubectl 1.36, `formatEndpointSlices`): the first three
/// addresses that are not marked as not ready, with their ports.
fn described(slices: &std::collections::BTreeMap<ObjectKey, EndpointSlice>) -> String {
    let slices: Vec<&EndpointSlice> = slices.values().filter(|it| it.service_name() == Some("checkout")).collect();
    if slices.is_empty() {
        return "`<none>`".to_owned();
    }
    let mut shown: Vec<String> = Vec::new();
    for slice in slices {
        let usable = || slice.endpoints.iter().filter(|endpoint| endpoint.conditions.ready != Some(false));
        if slice.ports.is_empty() {
            shown.extend(usable().map(|endpoint| endpoint.addresses[0].to_string()));
        }
        for port in slice.ports.iter().filter_map(|port| port.port) {
            shown.extend(usable().map(|endpoint| format!("{}:{port}", endpoint.addresses[0])));
        }
    }
    let more = shown.len().saturating_sub(3);
    shown.truncate(3);
    let more = if more == 0 { String::new() } else { format!(" + {more} more...") };
    if shown.is_empty() { "(empty)".to_owned() } else { format!("`{}{more}`", shown.join(",")) }
}
