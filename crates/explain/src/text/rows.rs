//! Aligned rows about Pods, or about the Services of a Pod.

use std::net::Ipv6Addr;

use super::TextStyle;
use super::output::{Mark, Output};
use crate::counts::thousands;
use crate::report::{NearMiss, PodEndpointReport, PodReport, PodState, Reason};

/// Number of rows without reasons, unless the style is wide.
const MAX_GOOD_ROWS: usize = 20;
/// Number of ports of an endpoint, unless the style is wide.
const MAX_PORTS: usize = 4;
/// Column of the first cell: after the indentation and the mark.
const FIRST_COLUMN: usize = 4;
const GAP: usize = 3;

struct Row<'a> {
    mark: Mark,
    /// Aligned with those of the other rows.
    cells: Vec<String>,
    /// After the cells, one on each line.
    reasons: &'a [Reason],
}

/// Appends a row for each Pod and near miss. `pods` has the name for the row of each Pod.
pub(super) fn write<'a>(
    output: &mut Output,
    pods: impl IntoIterator<Item = (&'a str, &'a PodReport)>,
    near_misses: &'a [NearMiss],
    style: TextStyle,
) {
    let mut left_out = 0;
    let mut rows = Vec::new();
    let mut good = 0;
    for (name, pod) in pods {
        let row = row(name, pod, style.wide);
        if row.mark == Mark::Good {
            good += 1;
            if good > MAX_GOOD_ROWS && !style.wide {
                left_out += 1;
                continue;
            }
        }
        rows.push(row);
    }
    let near_misses: Vec<_> = near_misses.iter().map(near_miss).collect();
    let columns = columns(rows.iter().chain(&near_misses));
    for row in &rows {
        write_row(output, row, &columns);
    }
    if left_out > 0 {
        output.text("  ").mark(Mark::Good).text(&format!("and {} more", thousands(left_out))).end_line();
    }
    for row in &near_misses {
        write_row(output, row, &columns);
    }
}

fn row<'a>(name: &str, pod: &'a PodReport, wide: bool) -> Row<'a> {
    let serving = pod.state == PodState::Serving;
    let mark = match (serving, pod.reasons.is_empty()) {
        (true, true) => Mark::Good,
        (true, false) => Mark::Partial,
        (false, _) => Mark::Bad,
    };
    let mut cells = vec![name.to_owned()];
    if serving || wide {
        let endpoints: Vec<_> = pod.endpoints.iter().map(|endpoint| address_and_ports(endpoint, wide)).collect();
        cells.push(endpoints.join(" "));
        cells.push(pod.zone.as_deref().map(zone).unwrap_or_default());
    }
    if wide {
        cells.push(if pod.node.is_empty() { String::new() } else { format!("node {}", pod.node) });
    }
    let shown = if wide { pod.reasons.len() } else { pod.reasons.len().min(1) };
    Row { mark, cells, reasons: &pod.reasons[..shown] }
}

/// Returns for instance `zone a`, and `zone-a` for a zone whose name says it already.
fn zone(name: &str) -> String {
    if name.starts_with("zone") { name.to_owned() } else { format!("zone {name}") }
}

fn near_miss(near_miss: &NearMiss) -> Row<'_> {
    Row { mark: Mark::Bad, cells: vec![near_miss.name.clone()], reasons: std::slice::from_ref(&near_miss.reason) }
}

/// Returns for instance `10.1.2.3:8080,9090` or `[fd00::1]:8080`, and the address alone without ports.
fn address_and_ports(endpoint: &PodEndpointReport, wide: bool) -> String {
    let PodEndpointReport { address, ports, .. } = endpoint;
    if ports.is_empty() {
        return address.clone();
    }
    let shown = if wide || ports.len() <= MAX_PORTS { ports.len() } else { MAX_PORTS - 1 };
    let mut list: Vec<_> = ports[..shown].iter().map(ToString::to_string).collect();
    if shown < ports.len() {
        list.push(format!("+{}", ports.len() - shown));
    }
    let list = list.join(",");
    if address.parse::<Ipv6Addr>().is_ok() { format!("[{address}]:{list}") } else { format!("{address}:{list}") }
}

/// Returns the columns in which cells start, and last the column after all cells. Columns without text have no width.
fn columns<'a, 'b: 'a>(rows: impl Iterator<Item = &'a Row<'b>>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.cells.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut columns = vec![FIRST_COLUMN];
    let mut start = FIRST_COLUMN;
    for width in widths {
        start += if width == 0 { 0 } else { width + GAP };
        columns.push(start);
    }
    columns
}

fn write_row(output: &mut Output, row: &Row<'_>, columns: &[usize]) {
    output.text("  ").mark(row.mark);
    for (cell, column) in row.cells.iter().zip(columns) {
        // Spaces are appended before text only, so that no line ends with them.
        if !cell.is_empty() {
            output.pad_to(*column).text(cell);
        }
    }
    for (index, reason) in row.reasons.iter().enumerate() {
        if index > 0 {
            output.end_line();
        }
        output.pad_to(columns[row.cells.len()]).reason(reason);
    }
    output.end_line();
}
