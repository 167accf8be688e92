//! `history --summary`: what has happened to all Services.

use std::process::ExitCode;

use jiff::Timestamp;
use kube_endpoints_explain::ObjectRef;
use kube_endpoints_history::summary::{Options, page, text};
use kube_endpoints_history::{Archive, Select, Summary};

use crate::args::{Format, GlobalArgs, HistoryArgs};
use crate::output::{self, Output, second};

/// Number of Services with a timeline in a page.
const TIMELINES: usize = 200;

/// Prints the summary of a namespace, or of all. The status is 1 if the history has no Service there.
pub(super) fn print(
    global: &GlobalArgs,
    args: &HistoryArgs,
    archive: &mut Archive,
    namespace: Option<String>,
    (since, until): (Timestamp, Timestamp),
) -> anyhow::Result<ExitCode> {
    let select = namespace.as_deref().map_or(Select::All, |namespace| Select::Namespace(namespace.into()));
    let (top, is_page) = (usize::from(args.top), global.output == Some(Format::Html));
    let mut options = Options::default();
    (options.settings, options.until, options.top) = (global.settings(), Some(until), top);
    options.timelines = if is_page { TIMELINES } else { top };
    let mut replay = archive.replay(select, since)?;
    let summary = Summary::of(&mut replay, namespace.as_deref().map(Into::into), since, &options)?;
    if summary.services == 0 {
        let of = namespace.map(|namespace| format!(" in namespace {namespace}")).unwrap_or_default();
        output::message(
            "error: ",
            format_args!("the history has no Service{of} between {} and its end", second(since)),
        );
        return Ok(ExitCode::FAILURE);
    }
    if is_page {
        output::print(&page(&summary))?;
    } else {
        let services: Vec<&ObjectRef> = summary.outages.items.iter().map(|outage| &outage.service).collect();
        output::print(&Output::new(global).render(&summary, &services, |_| text(&summary))?)?;
    }
    Ok(ExitCode::SUCCESS)
}
