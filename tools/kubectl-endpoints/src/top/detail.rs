//! Lines of the details of one Service.

use std::time::Duration;

use kube_endpoint_model::well_known::SLICE_MANAGED_BY_LABEL;
use kube_endpoint_model::{Addresses, Endpoint, EndpointPort, EndpointSlice, Labels, Pod};
use ratatui::style::{Color, Style};
use ratatui::text::Line;

use super::activity::{Activity, SliceChange};
use super::counts::Counts;
use super::duration::short;
use super::model::Detail;
use crate::output::plural;

/// Gap between columns.
const GAP: &str = "  ";

/// Returns the lines of the details: slices with endpoints, Pods, and the last changes.
pub(crate) fn lines(detail: &Detail<'_>, now: Duration) -> Vec<Line<'static>> {
    let Detail { service, slices, pods, activity } = detail;
    let selector = service.selector.as_ref().map_or_else(|| "no selector".to_owned(), selector);
    let mut lines = vec![heading(format!("{}/{}", service.namespace, service.name))];
    lines.push(Line::raw(format!("  {selector}")));
    lines.push(Line::raw(format!("  {}", summary(activity, now))));
    if let Some((pods, since)) = activity.oldest_waiting() {
        let (s, waited) = (plural(pods), short(now.saturating_sub(since)));
        let text = format!("  changes of {pods} Pod{s} not in the slices yet, for {waited}");
        lines.push(Line::styled(text, attention()));
    }

    lines.push(heading("SLICES".to_owned()));
    for slice in slices {
        lines.push(Line::raw(format!("  {}", slice_line(slice))));
        let cells =
            slice.endpoints.iter().map(|endpoint| (endpoint_cells(endpoint), !endpoint.conditions.counts_as_ready()));
        lines.extend(table("    ", cells.collect()));
    }
    lines.push(heading("PODS".to_owned()));
    lines.extend(table("  ", pods.iter().map(|pod| (pod_cells(pod), !pod.ready || pod.terminating)).collect()));
    lines.push(heading("LAST CHANGES (UTC)".to_owned()));
    lines.extend(table("  ", activity.log().map(|change| (change_cells(change), false)).collect()));
    lines
}

fn heading(text: String) -> Line<'static> {
    Line::styled(text, Style::new().bold())
}

fn attention() -> Style {
    Style::new().fg(Color::Yellow)
}

fn selector(labels: &Labels) -> String {
    let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("selector {}", if pairs.is_empty() { "of all Pods".to_owned() } else { pairs.join(",") })
}

fn summary(activity: &Activity, now: Duration) -> String {
    let (changes, rate) = (activity.changes(), activity.per_minute(now));
    let latency = activity.latency().map_or_else(
        || "change to slice -".to_owned(),
        |it| format!("change to slice p50 {}, last {}", short(it.p50), short(it.last)),
    );
    format!("changes {changes}, {rate} in the last minute; {latency}")
}

fn slice_line(slice: &EndpointSlice) -> String {
    let Counts { endpoints, not_ready } = Counts::of([slice]);
    let ports: Vec<_> = slice.ports.iter().map(port).collect();
    let ports = if ports.is_empty() { "no ports".to_owned() } else { ports.join(",") };
    let manager = slice.metadata.labels.get(SLICE_MANAGED_BY_LABEL).unwrap_or("no manager");
    let (name, family, s) = (&slice.metadata.name, slice.address_type.as_str(), plural(endpoints));
    format!("{name}  {family}  {endpoints} endpoint{s}, {not_ready} not ready  {ports}  {manager}")
}

/// Returns a port such as `http:8080/TCP`, or `8080/TCP` without a name.
fn port(port: &EndpointPort) -> String {
    let number = port.port.map_or_else(|| "all".to_owned(), |number| number.to_string());
    let name = port.name.as_deref().filter(|name| !name.is_empty()).map(|name| format!("{name}:"));
    format!("{}{number}/{}", name.unwrap_or_default(), port.protocol.as_deref().unwrap_or("TCP"))
}

fn endpoint_cells(endpoint: &Endpoint) -> Vec<String> {
    let mut conditions = vec![if endpoint.conditions.counts_as_ready() { "ready" } else { "not ready" }];
    conditions.extend(endpoint.conditions.counts_as_serving().then_some("serving"));
    conditions.extend(endpoint.conditions.counts_as_terminating().then_some("terminating"));
    let target = endpoint.target_ref.as_ref().map(|target| target.name().to_string());
    let node = endpoint.node_name.as_deref().unwrap_or("-").to_owned();
    let zone = endpoint.zone.as_deref().unwrap_or_default().to_owned();
    vec![addresses(&endpoint.addresses), conditions.join(", "), target.unwrap_or_else(|| "-".to_owned()), node, zone]
}

fn pod_cells(pod: &Pod) -> Vec<String> {
    let state = match pod {
        Pod { finished: true, .. } => "finished",
        Pod { terminating: true, .. } => "terminating",
        Pod { ready: true, .. } => "ready",
        _ => "not ready",
    };
    vec![pod.name.to_string(), state.to_owned(), addresses(&pod.pod_ips), pod.node_name.to_string()]
}

fn addresses(addresses: &Addresses) -> String {
    let texts: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    if texts.is_empty() { "-".to_owned() } else { texts.join(",") }
}

fn change_cells(change: &SliceChange) -> Vec<String> {
    let SliceChange { time, operation, slice, before, after, latency } = change;
    let step = |before: usize, after: usize| {
        if before == after { after.to_string() } else { format!("{before} -> {after}") }
    };
    vec![
        time.strftime("%H:%M:%S%.3f").to_string(),
        operation.as_str().to_owned(),
        slice.to_string(),
        format!("endpoints {}", step(before.endpoints, after.endpoints)),
        format!("ready {}", step(before.ready(), after.ready())),
        latency.map_or_else(String::new, |latency| format!("after {}", short(latency))),
    ]
}

/// Returns lines with aligned columns; `true` marks a line that needs attention. Without rows, a line with `-`.
fn table(indent: &str, rows: Vec<(Vec<String>, bool)>) -> Vec<Line<'static>> {
    if rows.is_empty() {
        return vec![Line::raw(format!("{indent}-"))];
    }
    let width = |column: usize| rows.iter().map(|(cells, _)| cells.get(column).map_or(0, String::len)).max();
    let widths: Vec<_> = (0..rows[0].0.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |(cells, marked): (Vec<String>, bool)| {
        let cells: Vec<_> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let text = format!("{indent}{}", cells.join(GAP).trim_end());
        Line::styled(text, if marked { attention() } else { Style::new() })
    };
    rows.into_iter().map(line).collect()
}
