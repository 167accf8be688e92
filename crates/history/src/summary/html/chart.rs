//! Endpoints of a Service over time, as stacked areas.

use std::fmt::Write as _;

use jiff::Timestamp;
use maud::{Markup, html};

use super::Page;
use crate::summary::text::{counted, duration};
use crate::summary::{Point, ServiceTimeline};
use crate::timeline::{Counts, Line, line_of, time_of};

/// Width and height in units of the drawing, which is stretched.
const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 100.0;
/// Width of a change, and the least one of an outage.
const STROKE: f64 = 4.0;

/// A layer of the areas: its class, and where it begins and ends, from below.
type Layer = (&'static str, fn(&Counts) -> usize, fn(&Counts) -> usize);

const LAYERS: [Layer; 3] = [
    ("ready", |_| 0, |it| it.ready),
    ("draining", |it| it.ready, |it| it.ready + it.draining),
    ("not-ready", |it| it.ready + it.draining, all),
];

fn is_visible((_, lower, upper): &Layer, point: &Point) -> bool {
    upper(&point.counts) > lower(&point.counts)
}

fn all(counts: &Counts) -> usize {
    counts.ready + counts.draining + counts.not_ready
}

/// Returns what the colors mean.
pub(super) fn legend() -> Markup {
    let entries = [
        ("ready", "ready"),
        ("draining", "draining"),
        ("not-ready", "not ready"),
        ("outage", "no reachable endpoint"),
        ("unknown", "unknown"),
    ];
    html! {
        ul.legend {
            @for (class, text) in entries {
                li { svg viewBox="0 0 4 3" aria-hidden="true" { rect class=(class) width="4" height="3" {} } (text) }
            }
        }
    }
}

/// Place of times on the horizontal axis.
struct Axis {
    from: Timestamp,
    length: f64,
}

impl Axis {
    fn x(&self, time: Timestamp) -> f64 {
        (time.duration_since(self.from).as_secs_f64() / self.length * WIDTH).clamp(0.0, WIDTH)
    }

    /// Returns place and width of a time that is never too short to be seen.
    fn span(&self, from: Timestamp, until: Timestamp) -> (f64, f64) {
        let x = self.x(from).min(WIDTH - STROKE);
        (x, (self.x(until) - x).max(STROKE))
    }
}

impl Page<'_> {
    /// Returns the drawing of a Service, with the number `at`.
    pub(super) fn chart(&self, at: usize, timeline: &ServiceTimeline, lines: &[Line]) -> Markup {
        let (from, until) = (self.summary.from, self.summary.until);
        let axis = Axis { from, length: until.duration_since(from).as_secs_f64().max(0.001) };
        let points = &timeline.points;
        let most = points.iter().map(|point| all(&point.counts)).max().unwrap_or_default();
        let service = &timeline.service;
        html! {
            figure {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-labelledby={ "t" (at) " d" (at) } {
                    title id={ "t" (at) } { "Endpoints of " (service.namespace) "/" (service.name) }
                    desc id={ "d" (at) } { (description(timeline)) }
                    @for gap in &self.summary.gaps.items {
                        (area("unknown", axis.span(gap.from, gap.until), &format!("unknown: {}", gap.reason)))
                    }
                    @for layer in LAYERS.into_iter().filter(|layer| points.iter().any(|point| is_visible(layer, point))) {
                        path class=(layer.0) d=(steps(points, until, &axis, most, layer)) {}
                    }
                    @for (from, until) in outages(points, until) {
                        @let length = duration(until.duration_since(from));
                        @let title = format!("no reachable endpoint from {} for {length}", self.at(from));
                        (bar("outage", axis.span(from, until)))
                        (area("outage shade", axis.span(from, until), &title))
                    }
                    @for marks in lines.chunk_by(|a, b| axis.x(time_of(b)) - axis.x(time_of(a)) < STROKE) {
                        (self.marks(&axis, marks))
                    }
                }
                div.axis aria-hidden="true" {
                    span { (self.at(from)) }
                    span { "up to " (counted(most, "endpoint")) }
                    span { (self.at(until)) }
                }
            }
        }
    }

    /// Returns changes that are too close to be told apart.
    fn marks(&self, axis: &Axis, lines: &[Line]) -> Markup {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return html! {} };
        let text: Vec<String> =
            lines.iter().map(|line| format!("{}  {}", self.at(time_of(line)), line_of(line))).collect();
        area("change", axis.span(time_of(first), time_of(last)), &text.join("\n"))
    }
}

fn area(class: &str, (x, width): (f64, f64), text: &str) -> Markup {
    html! {
        rect class=(class) x=(format!("{x:.1}")) width=(format!("{width:.1}")) height=(HEIGHT) { title { (text) } }
    }
}

/// Returns a strip at the upper edge.
fn bar(class: &str, (x, width): (f64, f64)) -> Markup {
    html! { rect class=(class) x=(format!("{x:.1}")) width=(format!("{width:.1}")) height=(HEIGHT / 8.0) {} }
}

fn description(timeline: &ServiceTimeline) -> String {
    let existing = || timeline.points.iter().map(|point| &point.counts).filter(|it| it.exists);
    let fewest = existing().map(|it| it.reachable).min().unwrap_or_default();
    let most = existing().map(|it| it.ready).max().unwrap_or_default();
    let last = timeline.points.last().map(|point| point.counts).unwrap_or_default();
    format!(
        "At least {fewest} endpoints reachable, at most {most} ready; at the end {} ready, {} draining and {} not ready.",
        last.ready, last.draining, last.not_ready
    )
}

/// Returns the outline of a layer, which has steps.
fn steps(points: &[Point], until: Timestamp, axis: &Axis, most: usize, (_, lower, upper): Layer) -> String {
    #[expect(clippy::cast_precision_loss, reason = "no Service has so many endpoints")]
    let y = |count: usize| HEIGHT - count as f64 / most.max(1) as f64 * HEIGHT;
    let start = points.first().map_or(0.0, |point| axis.x(point.time));
    let mut path = format!("M{start:.1} {HEIGHT:.1}");
    let mut line = |y: f64, x: f64| {
        let _ = write!(path, "V{y:.1}H{x:.1}");
    };
    let ends = points.iter().skip(1).map(|point| point.time).chain([until]);
    for (point, end) in points.iter().zip(ends) {
        line(y(upper(&point.counts)), axis.x(end));
    }
    for point in points.iter().rev() {
        line(y(lower(&point.counts)), axis.x(point.time));
    }
    path + "Z"
}

/// Returns the times without a reachable endpoint.
fn outages(points: &[Point], until: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    let mut outages = Vec::new();
    let mut at = 0;
    for run in points.chunk_by(|a, b| a.counts.is_outage() == b.counts.is_outage()) {
        at += run.len();
        if run[0].counts.is_outage() {
            let end = points.get(at).map_or(until, |point| point.time);
            outages.push((run[0].time, end));
        }
    }
    outages
}
