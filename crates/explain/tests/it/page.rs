//! The table of broken Services in the book. `UPDATE_DOCS=1` writes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_endpoints_explain::Reason;

use crate::broken::{broken, cases, explained};

const START: &str = "<!-- broken-services:start -->\n";
const END: &str = "<!-- broken-services:end -->";

#[test]
fn the_book_shows_what_is_reported() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/explain.md");
    let page = fs::read_to_string(&path).expect("the page");
    let start = page.find(START).expect("the start of the table") + START.len();
    let end = start + page[start..].find(END).expect("the end of the table");
    let table = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, [&page[..start], &table, &page[end..]].concat()).expect("the page");
    } else {
        assert_eq!(page[start..end], table, "run the tests with UPDATE_DOCS=1");
    }
}

/// Returns a row for the first state of each code.
fn table() -> String {
    let header = "\n| the state | `Endpoints` in `kubectl describe service` | mark and first cause in `kubectl endpoints explain` |\n\
                  |---|---|---|\n";
    let mut seen = BTreeSet::new();
    let row = |case| {
        let (mark, first, _) = explained(case);
        let Reason { code, message } = first.filter(|reason| seen.insert(reason.code))?;
        let (described, message) = (described(&broken(case).slices), message.replace('|', "\\|"));
        Some(format!("| {} | {described} | {mark} [{code}](codes.md#{code}): {message} |\n", case.fault))
    };
    let rows: String = cases().filter_map(row).collect();
    format!("{header}{rows}\n")
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
