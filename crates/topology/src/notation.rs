//! A text notation of slices for tests: `a@n1>b !c, a>a | b | c` is two slices to create, one to update and one
//! unchanged. An endpoint is `zone@node>hints`, prefixed with `!` if it is not ready and with `?` if its readiness is
//! unknown. The zone is `-` if absent and `_` if empty; hints are `zone+zone/node`. Absent parts are omitted; `>` alone
//! is an empty hints object. `()` is a slice without endpoints.

use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointConditions, EndpointHints, EndpointSlice, ObjectMeta, Text};

use crate::SliceSet;

pub(crate) fn slice(text: &str) -> EndpointSlice {
    EndpointSlice {
        metadata: ObjectMeta::default(),
        address_type: "IPv4".into(),
        endpoints: text.split_whitespace().filter(|it| *it != "()").map(endpoint).collect(),
        ports: Vec::new(),
    }
}

/// Parses `create | update | unchanged`.
pub(crate) fn set(text: &str) -> SliceSet {
    let mut groups = text.split('|').map(|group| -> Vec<EndpointSlice> {
        group.split(',').filter(|it| !it.trim().is_empty()).map(slice).collect()
    });
    let mut next = || groups.next().unwrap_or_default();
    SliceSet { create: next(), update: next(), unchanged: next().into_iter().map(Arc::new).collect() }
}

#[track_caller]
pub(crate) fn assert_set(actual: &SliceSet, expected: &str) {
    assert_eq!(show_set(actual), show_set(&set(expected)));
}

fn show_set(slices: &SliceSet) -> String {
    let group = |slices: Vec<String>| slices.join(", ");
    [
        group(slices.create.iter().map(show).collect()),
        group(slices.update.iter().map(show).collect()),
        group(slices.unchanged.iter().map(|it| show(it)).collect()),
    ]
    .join(" | ")
}

fn show(slice: &EndpointSlice) -> String {
    if slice.endpoints.is_empty() {
        return "()".to_owned();
    }
    slice.endpoints.iter().map(show_endpoint).collect::<Vec<_>>().join(" ")
}

fn endpoint(text: &str) -> Endpoint {
    let (ready, text) = match (text.strip_prefix('!'), text.strip_prefix('?')) {
        (Some(rest), _) => (Some(false), rest),
        (None, Some(rest)) => (None, rest),
        (None, None) => (Some(true), text),
    };
    let (location, hints) = text.split_once('>').map_or((text, None), |(location, hints)| (location, Some(hints)));
    let (zone, node) = location.split_once('@').map_or((location, None), |(zone, node)| (zone, Some(node)));
    let names = |list: &str| list.split('+').filter(|it| !it.is_empty()).map(Text::from).collect();
    Endpoint {
        conditions: EndpointConditions { ready, ..EndpointConditions::default() },
        zone: (zone != "-").then(|| Text::from(zone.trim_matches('_'))),
        node_name: node.map(Text::from),
        hints: hints.map(|hints| {
            let (zones, nodes) = hints.split_once('/').unwrap_or((hints, ""));
            EndpointHints { for_zones: names(zones), for_nodes: names(nodes) }.into()
        }),
        ..Endpoint::default()
    }
}

fn show_endpoint(endpoint: &Endpoint) -> String {
    let ready = match endpoint.conditions.ready {
        Some(true) => "",
        Some(false) => "!",
        None => "?",
    };
    let zone = match endpoint.zone.as_deref() {
        None => "-",
        Some("") => "_",
        Some(zone) => zone,
    };
    let node = endpoint.node_name.as_ref().map(|node| format!("@{node}")).unwrap_or_default();
    let hints = endpoint.hints.as_ref().map(|hints| {
        let nodes = if hints.for_nodes.is_empty() { String::new() } else { format!("/{}", hints.for_nodes.join("+")) };
        format!(">{}{nodes}", hints.for_zones.join("+"))
    });
    format!("{ready}{zone}{node}{}", hints.unwrap_or_default())
}
