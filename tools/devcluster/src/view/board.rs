//! Tables of the live view: Services with their Endpoints, and EndpointSlices.

use std::{collections::BTreeMap, sync::Arc};

use kube_endpoint_model::EndpointSlice;
use kube_wire::Object as _;
use serde_json::{Map, Value};

use super::{
    counts::EndpointCounts,
    table::{Row, Rows, Style, Table},
};
use crate::cluster::{Snapshot, list};

/// View of a cluster: a table of Services and a table of EndpointSlices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Board {
    services: Table<4>,
    slices: Table<5>,
}

/// Index of the column of each table whose changes are reported by [`Board::changes`].
const SERVICE_STATE: usize = 3;
const SLICE_STATE: usize = 3;

/// Maximum length of both states of a change on one line of 80 columns, after the time and the name of the object.
const CHANGE_WIDTH: usize = 39;
/// What separates longer ones: a new line, and spaces up to the column of the states.
const CHANGE_GAP: &str = "\n                                     ";

/// View of an empty cluster.
impl Default for Board {
    fn default() -> Self {
        Self::of(&Snapshot::default())
    }
}

impl Board {
    pub(crate) fn of(cluster: &Snapshot) -> Self {
        let services = cluster.services.iter().map(|(key, service)| {
            let endpoints = cluster.endpoints.get(key).map(|endpoints| EndpointCounts::of_endpoints(endpoints));
            let endpoints = endpoints.map_or_else(|| "-".to_owned(), |counts| counts.to_string());
            let spec = &service.value["spec"];
            let cells = [key.to_string(), service_type(spec), service_ports(spec), endpoints];
            Row { key: key.to_string(), cells }
        });
        let mut slices: Vec<_> = cluster.slices.values().map(slice_row).collect();
        slices.sort_by(|a, b| (&a.0, &a.1.cells[1], &a.1.key).cmp(&(&b.0, &b.1.cells[1], &b.1.key)));
        let slices = slices.into_iter().map(|(_, row)| row).collect();
        Self {
            services: Table { header: ["SERVICE", "TYPE", "PORTS", "ENDPOINTS"], rows: services.collect() },
            slices: Table { header: ["SLICE", "IP", "PORTS", "ENDPOINTS", "ZONE HINTS"], rows: slices },
        }
    }

    /// Formats both tables; rows that differ from `before` are marked.
    pub(crate) fn render(&self, before: Option<&Self>, rows: Rows, style: Style) -> String {
        let services = self.services.render(before.map(|board| &board.services), rows, style);
        let slices = self.slices.render(before.map(|board| &board.slices), rows, style);
        let gap = if services.is_empty() || slices.is_empty() { "" } else { "\n" };
        format!("{services}{gap}{slices}")
    }

    /// Returns a line for each Endpoints object and slice whose state differs from `before`.
    pub(crate) fn changes(&self, before: &Self, style: Style) -> Vec<String> {
        let mut changes = Vec::new();
        let describe = |what: String, old: Option<&str>, new: Option<&str>| {
            let states = |states: &str| style.paint_states(states);
            match (old, new) {
                (None, Some(new)) => Some(format!("{what:<26}  {}", states(new))),
                (Some(old), None) => Some(format!("{what:<26}  {} -> gone", states(old))),
                (Some(old), Some(new)) if old != new => {
                    let gap = if old.len() + new.len() > CHANGE_WIDTH { CHANGE_GAP } else { " " };
                    Some(format!("{what:<26}  {}{gap}-> {}", states(old), states(new)))
                }
                _ => None,
            }
        };
        for (key, old, new) in join_states(&before.services, &self.services, SERVICE_STATE) {
            changes.extend(describe(format!("Endpoints {key}"), old, new));
        }
        for (key, old, new) in join_states(&before.slices, &self.slices, SLICE_STATE) {
            changes.extend(describe(format!("slice {key}"), old, new));
        }
        changes
    }
}

/// Joins two tables by key; returns the key and the cell of `column` in both. A cell `-` is treated as a missing row.
fn join_states<'a, const N: usize>(
    old: &'a Table<N>,
    new: &'a Table<N>,
    column: usize,
) -> impl Iterator<Item = (&'a str, Option<&'a str>, Option<&'a str>)> {
    let mut rows: BTreeMap<&str, (Option<&str>, Option<&str>)> = BTreeMap::new();
    let state = |row: &'a Row<N>| Some(row.cells[column].as_str()).filter(|state| *state != "-");
    for row in &old.rows {
        rows.entry(&row.key).or_default().0 = state(row);
    }
    for row in &new.rows {
        rows.entry(&row.key).or_default().1 = state(row);
    }
    rows.into_iter().map(|(key, (old, new))| (key, old, new))
}

fn slice_row(slice: &Arc<EndpointSlice>) -> (String, Row<5>) {
    let namespace = slice.namespace();
    let service = slice.service_name().map_or_else(|| "-".to_owned(), |service| format!("{namespace}/{service}"));
    let state = EndpointCounts::of_slice(slice).to_string();
    let key = slice.key().to_string();
    let cells = [key.clone(), slice.address_type.as_str().to_owned(), slice_ports(slice), state, hints(slice)];
    (service, Row { key, cells })
}

fn service_type(spec: &Value) -> String {
    let headless = spec["clusterIP"] == "None";
    let custom = spec["selector"].as_object().is_none_or(Map::is_empty);
    let name = spec["type"].as_str().unwrap_or("ClusterIP");
    match (headless, custom) {
        (true, _) => "headless".to_owned(),
        (false, true) => "no selector".to_owned(),
        (false, false) => name.to_owned(),
    }
}

/// Formats the ports of a Service, with the target port if it differs, such as `80->http,9090`.
fn service_ports(spec: &Value) -> String {
    let ports = list(&spec["ports"]).map(|port| {
        let (number, target) = (&port["port"], &port["targetPort"]);
        match target {
            Value::Number(_) if target != number => format!("{number}->{target}"),
            Value::String(name) => format!("{number}->{name}"),
            _ => number.to_string(),
        }
    });
    ports.collect::<Vec<_>>().join(",")
}

/// Formats the ports of a slice, such as `8080,9100`.
fn slice_ports(slice: &EndpointSlice) -> String {
    let ports = slice.ports.iter();
    let ports = ports.map(|port| port.port.map_or_else(|| "*".to_owned(), |number| number.to_string()));
    let ports = ports.collect::<Vec<_>>().join(",");
    if ports.is_empty() { "-".to_owned() } else { ports }
}

/// Formats the number of endpoints with a hint for each zone, such as `zone-a:2 zone-b:1`.
fn hints(slice: &EndpointSlice) -> String {
    let mut zones: BTreeMap<&str, usize> = BTreeMap::new();
    let hints = slice.endpoints.iter().filter_map(|endpoint| endpoint.hints.as_ref());
    for zone in hints.flat_map(|hints| &hints.for_zones) {
        *zones.entry(zone).or_default() += 1;
    }
    let hints = zones.into_iter().map(|(zone, count)| format!("{zone}:{count}"));
    let hints = hints.collect::<Vec<_>>().join(" ");
    if hints.is_empty() { "-".to_owned() } else { hints }
}
