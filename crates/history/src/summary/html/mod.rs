//! Summaries as a page of HTML that is complete in itself: nothing is loaded, and nothing runs.

mod chart;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use kube_endpoints_explain::{ObjectRef, controls_terminal, thousands};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{by_manager, counted, duration, origin, overview, written};
use super::{Flapping, List, Outage, Propagation, ServiceTimeline, Summary, Writes};
use crate::timeline::{Line, Unknown, fold, line_of, time_of};

const STYLE: &str = include_str!("style.css");
/// A page that contains no code and loads nothing, even if a name were not escaped.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Number of Services whose changes are unfolded.
const UNFOLDED: usize = 20;

/// Returns a summary as a page of HTML for screens of any width, and for paper.
///
/// It has a timeline of each of [`Summary::timelines`]. It loads nothing, has no scripts, and shows all names and messages as
/// text.
pub fn page(summary: &Summary) -> String {
    let title = match &summary.namespace {
        Some(namespace) => format!("Endpoints of namespace {namespace}"),
        None => "Endpoints of all namespaces".to_owned(),
    };
    let page = Page::new(summary);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { (overview(summary)) }
                    p.soft { "Times are in UTC. An endpoint is reachable if it is ready and a slice shows it as ready." }
                }
                main {
                    (page.lists())
                    (page.timelines())
                }
            }
        }
    };
    page.into_string().replace(|it| it != '\n' && controls_terminal(it), "\u{fffd}")
}

struct Page<'a> {
    summary: &'a Summary,
    /// Numbers of the timelines.
    anchors: BTreeMap<&'a ObjectRef, usize>,
    format: &'static str,
}

impl<'a> Page<'a> {
    fn new(summary: &'a Summary) -> Page<'a> {
        let services = summary.timelines.items.iter().map(|timeline| &timeline.service);
        let date = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
        let is_one_day = date(summary.from) == date(summary.until);
        let format = if is_one_day { "%H:%M:%S%.3f" } else { "%Y-%m-%d %H:%M:%S%.3f" };
        Page { summary, anchors: services.zip(0..).collect(), format }
    }

    fn at(&self, time: Timestamp) -> String {
        time.strftime(self.format).to_string()
    }

    fn time(&self, time: Timestamp) -> Markup {
        html! { time datetime=(time) { (self.at(time)) } }
    }

    fn lists(&self) -> Markup {
        let Summary { outages, not_yet_ready, propagation, writes, flapping, gaps, .. } = self.summary;
        let of_outage = ["Service", "From", "For", "Cause"];
        html! {
            (list("Outages", of_outage, outages, |it| self.outage(it)))
            (list("Not ready since their creation, or since before", of_outage, not_yet_ready, |it| self.outage(it)))
            (list("Slowest from ready Pod to slice", ["Service", "Ready", "Shown after", "Address, slice"], propagation,
                |it| self.propagation(it)))
            (list("Most writes", ["Service", "Writes", "", "Managers"], writes, |it| self.writes(it)))
            (list("Flapping Pods", ["Pod", "Changes", "", "Services"], flapping, flapping_pod))
            (list("Unknown", ["From", "Until", "For", "Reason"], gaps, |it| self.unknown(it)))
        }
    }

    fn service(&self, service: &ObjectRef) -> Markup {
        let name = html! { bdi { (service.namespace) "/" (service.name) } };
        match self.anchors.get(service) {
            Some(anchor) => html! { a href={ "#s" (anchor) } { (name) } },
            None => name,
        }
    }

    fn outage(&self, outage: &Outage) -> [Markup; 4] {
        let lasts = if outage.until.is_none() { ", lasts" } else { "" };
        let length = duration(outage.duration(self.summary.until));
        [
            self.service(&outage.service),
            self.time(outage.from),
            html! { (length) (lasts) },
            html! { bdi { (origin(&outage.cause)) } },
        ]
    }

    fn propagation(&self, it: &Propagation) -> [Markup; 4] {
        let text = html! {
            (it.address)
            @if let Some(pod) = &it.pod { ", Pod " bdi { (pod) } }
            @match &it.slice {
                Some(slice) => { "; " bdi { (slice) } },
                None => { "; in no slice" },
            }
            @if let Some(manager) = &it.manager { " by " bdi { (manager) } }
        };
        [self.service(&it.service), self.time(it.ready), html! { (duration(it.after)) }, text]
    }

    fn writes(&self, it: &Writes) -> [Markup; 4] {
        [
            self.service(&it.service),
            html! { (thousands(it.slices + it.endpoints)) },
            html! {},
            html! { (written(it.slices, it.endpoints)) ": " bdi { (by_manager(&it.managers)) } },
        ]
    }

    fn unknown(&self, it: &Unknown) -> [Markup; 4] {
        let length = duration(it.until.duration_since(it.from));
        [self.time(it.from), self.time(it.until), html! { (length) }, html! { bdi { (it.reason) } }]
    }

    fn timelines(&self) -> Markup {
        let timelines = &self.summary.timelines;
        html! {
            section {
                h2 { "Services over time" }
                (chart::legend())
                @for (at, timeline) in timelines.items.iter().enumerate() { (self.timeline(at, timeline)) }
                @if timelines.omitted() > 0 {
                    p.soft {
                        (thousands(timelines.omitted()))
                        " more Services are not shown: they had shorter outages, or fewer changes."
                    }
                }
            }
        }
    }

    fn timeline(&self, at: usize, timeline: &ServiceTimeline) -> Markup {
        let ServiceTimeline { service, outages, down, changes, entries, .. } = timeline;
        let lines = fold(entries);
        html! {
            section.service id={ "s" (at) } {
                h3 { bdi { (service.namespace) "/" (service.name) } }
                p.soft {
                    @if *outages > 0 { (counted(*outages, "outage")) ", " (duration(*down)) " in all; " }
                    (counted(*changes, "change"))
                }
                (self.chart(at, timeline, &lines))
                @if !lines.is_empty() {
                    details open[at < UNFOLDED] {
                        summary { "Changes and their causes" }
                        table role="table" {
                            tbody role="rowgroup" {
                                @for line in &lines { (self.line(line)) }
                            }
                        }
                        @if *changes > entries.len() {
                            p.soft { "before, " (thousands(changes - entries.len())) " changes that are not shown" }
                        }
                    }
                }
            }
        }
    }

    fn line(&self, line: &Line) -> Markup {
        html! {
            tr role="row" {
                td.fixed.whole role="cell" { (self.time(time_of(line))) }
                td.whole role="cell" { bdi { (line_of(line)) } }
            }
        }
    }
}

fn flapping_pod(it: &Flapping) -> [Markup; 4] {
    [
        html! { bdi { (it.pod.namespace) "/" (it.pod.name) } },
        html! { (thousands(it.changes)) },
        html! {},
        html! { bdi { (it.services.join(", ")) } },
    ]
}

/// Returns a table with four columns: a name, two short ones, and a text. Nothing, for an empty list.
fn list<T>(title: &str, head: [&str; 4], list: &List<T>, row: impl Fn(&T) -> [Markup; 4]) -> Markup {
    html! {
        @if list.total > 0 {
            section {
                h2 { (title) ": " (thousands(list.total)) }
                // With roles: tables that are no longer shown as such lose theirs.
                table role="table" {
                    thead role="rowgroup" {
                        tr role="row" { @for title in head { th role="columnheader" scope="col" { (title) } } }
                    }
                    tbody role="rowgroup" {
                        @for [name, one, other, text] in list.items.iter().map(&row) {
                            tr role="row" {
                                td role="cell" { (name) }
                                td.fixed role="cell" { (one) }
                                td.fixed role="cell" { (other) }
                                td.whole role="cell" { (text) }
                            }
                        }
                    }
                }
                @if list.omitted() > 0 { p.soft { "and " (thousands(list.omitted())) " more" } }
            }
        }
    }
}
