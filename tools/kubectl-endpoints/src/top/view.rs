//! Drawing of the screen.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::app::{App, Mode};
use super::column::Column;
use super::detail;
use super::duration::short;
use super::model::{Model, Row};

/// Lines above the body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    /// Which Services are shown, such as `namespace shop`.
    pub(crate) scope: String,
    /// State of the caches; empty if they are synced and current.
    pub(crate) caches: String,
    /// Line of the metrics; `None` without a URL.
    pub(crate) metrics: Option<String>,
}

const HELP: [&str; 18] = [
    "Keys",
    "  up, down, PageUp, PageDown, Home, End   select a Service, or scroll",
    "  left, right, s                          sort by another column",
    "  r                                       reverse the order",
    "  /                                       filter by a part of namespace/name",
    "  Enter                                   show slices, Pods and last changes",
    "  Esc                                     leave the details, remove the filter",
    "  q, Ctrl-C                               quit",
    "Columns",
    "  CHANGES    events of the slices of the Service since the start",
    "  /MIN       events of its slices in the last minute",
    "  ENDPOINTS  endpoints in its slices, counted for each address type",
    "  NOT READY  endpoints whose condition ready is false",
    "  P50/LAST   time from the event of a Pod or of the Service to the event of the",
    "             slice that shows the change: median of 128 samples, and the last.",
    "             Both events are observed here, so that the delays of the two",
    "             watches are included.",
    "Esc closes this help.",
];

/// Draws the screen at `now`, the time since the start of the program.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App, model: &Model, header: &Header, now: Duration) {
    let metrics_height = u16::from(header.metrics.is_some());
    let heights =
        [Constraint::Length(1), Constraint::Length(metrics_height), Constraint::Fill(1), Constraint::Length(1)];
    let [title, metrics, body, footer] = Layout::vertical(heights).areas(frame.area());
    let rows = app.arrange(model.rows(now));
    let Header { scope, caches, .. } = header;
    let matching =
        if app.filter.is_empty() { String::new() } else { format!(", {} match \"{}\"", rows.len(), app.filter) };
    let caches = if caches.is_empty() { String::new() } else { format!("  [{caches}]") };
    let text = format!("Services of {scope}: {}{matching}{caches}", model.services());
    frame.render_widget(Line::styled(text, Style::new().bold()), title);
    if let Some(line) = &header.metrics {
        frame.render_widget(Line::raw(line.as_str()), metrics);
    }
    let lines = body_lines(app, model, &rows, body, now);
    frame.render_widget(Paragraph::new(lines), body);
    frame.render_widget(Line::styled(footer_text(app), Style::new().dim()), footer);
}

fn body_lines(app: &mut App, model: &Model, rows: &[Row], body: Rect, now: Duration) -> Vec<Line<'static>> {
    let height = usize::from(body.height);
    if app.help {
        return HELP.into_iter().map(Line::raw).collect();
    }
    let Mode::Detail { service, .. } = &app.mode else {
        return table(app, rows, usize::from(body.width), height);
    };
    let lines = model.detail(service).map_or_else(
        || vec![Line::raw(format!("Service {service} does not exist any more."))],
        |detail| detail::lines(&detail, now),
    );
    let above = app.scrolled(lines.len(), height);
    lines.into_iter().skip(above).take(height).collect()
}

fn footer_text(app: &App) -> String {
    match &app.mode {
        _ if app.help => "Esc close  q quit".to_owned(),
        Mode::Table if app.filter.is_empty() => {
            "↑↓ select  Enter details  ←→ sort  r reverse  / filter  ? help  q quit".to_owned()
        }
        Mode::Table => "↑↓ select  Enter details  ←→ sort  r reverse  / filter  Esc all  q quit".to_owned(),
        Mode::Filter => format!("/{}█  Enter keep  Esc all", app.filter),
        Mode::Detail { .. } => "↑↓ scroll  Esc back  ? help  q quit".to_owned(),
    }
}

/// Widths of the numeric columns, with a place for the arrow of the sort order.
const NUMERIC_WIDTHS: [usize; 5] = [8, 5, 10, 10, 13];

/// Minimum width of the columns of names.
const NAME_WIDTH: usize = 10;

/// Returns the heading and the visible rows.
fn table(app: &mut App, rows: &[Row], width: usize, height: usize) -> Vec<Line<'static>> {
    let visible = app.visible(rows, height.saturating_sub(1));
    let selected = app.position(rows);
    let widths = widths(rows, width);
    let mut lines = vec![Line::styled(heading(app, widths), Style::new().bold())];
    for (at, row) in rows.iter().enumerate().take(visible.end).skip(visible.start) {
        let mut style = Style::new();
        if row.endpoints.not_ready > 0 {
            style = style.fg(Color::Yellow);
        }
        if at == selected {
            style = style.reversed();
        }
        lines.push(Line::styled(join(cells(row), widths), style));
    }
    lines
}

/// Distributes the width: names of namespaces get at most two fifths of what the numbers leave.
fn widths(rows: &[Row], width: usize) -> [usize; 7] {
    let gaps = Column::ALL.len() - 1;
    let rest = width.saturating_sub(NUMERIC_WIDTHS.iter().sum::<usize>() + gaps).max(2 * NAME_WIDTH);
    let longest = rows.iter().map(|row| row.service.namespace.len()).max().unwrap_or(0);
    let namespace = longest.clamp(NAME_WIDTH, NAME_WIDTH.max(rest * 2 / 5));
    let [changes, per_minute, endpoints, not_ready, latency] = NUMERIC_WIDTHS;
    [namespace, rest - namespace, changes, per_minute, endpoints, not_ready, latency]
}

fn heading(app: &App, widths: [usize; 7]) -> String {
    let heading = |column: Column| {
        let arrow = match (column == app.sort, column.is_text() != app.reversed) {
            (false, _) => "",
            (true, true) => "↑",
            (true, false) => "↓",
        };
        format!("{}{arrow}", column.heading())
    };
    join(Column::ALL.map(heading), widths)
}

fn cells(row: &Row) -> [String; 7] {
    let latency = row.latency.map(|it| format!("{}/{}", short(it.p50), short(it.last)));
    [
        row.service.namespace.to_string(),
        row.service.name.to_string(),
        row.changes.to_string(),
        row.per_minute.to_string(),
        row.endpoints.endpoints.to_string(),
        row.endpoints.not_ready.to_string(),
        latency.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// Joins cells; names are aligned to the left and shortened, numbers are aligned to the right.
fn join(cells: [String; 7], widths: [usize; 7]) -> String {
    let mut texts = Vec::with_capacity(cells.len());
    for ((cell, width), column) in cells.into_iter().zip(widths).zip(Column::ALL) {
        texts.push(if column.is_text() {
            format!("{:<width$}", shortened(cell, width))
        } else {
            format!("{cell:>width$}")
        });
    }
    texts.join(" ")
}

fn shortened(text: String, width: usize) -> String {
    if text.chars().count() <= width {
        return text;
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod picture;
#[cfg(test)]
mod tests;
