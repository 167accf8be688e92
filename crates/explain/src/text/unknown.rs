//! Consequences of kinds that could not be read.

use super::output::Output;
use crate::report::Kind;

/// Appends a line for each kind that could not be read.
pub(super) fn write(output: &mut Output, kinds: &[Kind]) {
    for kind in kinds {
        output.indented(&format!("unknown: {}", consequence(*kind)));
    }
}

fn consequence(kind: Kind) -> &'static str {
    match kind {
        Kind::Service => "may not read Services: their selectors and ports are unknown",
        Kind::Pod => "may not read Pods: the expected endpoints are unknown",
        Kind::Node => "may not read Nodes: zones and hints are unknown",
        Kind::Endpoints => "may not read Endpoints: their state and what is mirrored are unknown",
        Kind::EndpointSlice => "may not read EndpointSlices: their state is unknown",
    }
}
