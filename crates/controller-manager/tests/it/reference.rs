//! Compares the generated pages of the book (flags, feature gates, metrics) with the program.
//!
//! `UPDATE_DOCS=1 cargo test -p endpoint-controller-manager` regenerates them.

use std::fmt::Write as _;
use std::path::Path;

use endpoint_controller_manager::{FeatureGates, Stage, flag_reference};

/// Marker in a page: the text before it is written by hand, the text after it is generated.
const MARKER: &str = "<!-- Made by a test, see crates/controller-manager/tests/it/reference.rs -->\n";

/// Fails unless the page, or its part after [`MARKER`], equals `generated`. With `UPDATE_DOCS` set, writes it.
#[track_caller]
pub(crate) fn assert_page_is_current(page: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/src/{page}.md"));
    let read = || std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let handwritten = |page: &str| {
        page.split_once(MARKER).map_or_else(String::new, |(handwritten, _)| format!("{handwritten}{MARKER}"))
    };
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, handwritten(&read()) + generated).expect("the page can be written");
    }
    let actual = read();
    let expected = handwritten(&actual) + generated;
    assert_eq!(
        actual, expected,
        "docs/src/{page}.md is out of date, see crates/controller-manager/tests/it/reference.rs"
    );
}

#[test]
fn the_page_of_flags_is_up_to_date() {
    assert_page_is_current("flags", &flag_reference());
}

#[test]
fn the_page_of_feature_gates_is_up_to_date() {
    let mut table = "\n| Gate | Stage | Default | Locked |\n|---|---|---|---|\n".to_owned();
    for (gate, on) in FeatureGates::default().all() {
        let stage = match gate.stage {
            Stage::Alpha => "alpha",
            Stage::Beta => "beta",
            Stage::Stable => "stable",
            Stage::Deprecated => "deprecated",
        };
        let (on, locked) = (if on { "on" } else { "off" }, if gate.locked { "yes" } else { "" });
        let _ = writeln!(table, "| `{}` | {stage} | {on} | {locked} |", gate.name);
    }
    assert_page_is_current("feature-gates", &table);
}
