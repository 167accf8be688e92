//! `history`: how the endpoints of a Service have changed, and why.

mod summary;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use jiff::SignedDuration;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::{Kind, ObjectRef};
use kube_endpoints_history::timeline::{Entry, Line, Unknown, fold, text};
use kube_endpoints_history::{Select, Timeline};
use serde::Serialize;

use crate::{
    args::{GlobalArgs, HistoryArgs},
    connection::namespace_offline,
    output::{self, Output, second as shown},
    past::{not_recorded, not_within},
    source::{Part, Source},
};

/// Time within which a recorder that is running records the time, with a margin.
const MARKED: SignedDuration = SignedDuration::from_secs(60);

/// The changes as JSON and YAML.
#[derive(Serialize)]
struct Document<'a> {
    items: &'a [Line],
    gaps: &'a [Unknown],
}

/// Prints the changes. The status is 1 if the history has no such Service.
pub(crate) async fn run(global: &GlobalArgs, args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let source = Source::of(global).context("neither --history nor --url is given")?;
    let output = Output::new(global);
    let now = kube_ambient::now();
    let [since, until] = [args.since, args.until].map(|moment| moment.map(|moment| moment.time(now)));
    let namespace = if global.all_namespaces { None } else { Some(namespace_offline(global).await) };
    let part = Part { namespace: namespace.as_deref(), service: args.service.as_deref(), since, until };
    let mut archive = source.open(global, part).await?;
    let first = archive.headers().next().map(|header| header.started);
    let (Some(first), Some(end)) = (first, archive.end()?) else {
        bail!("{source} has no records");
    };
    if let Some(warning) = not_recorded(archive.headers()) {
        output::warn(warning);
    }
    match (since, until) {
        (Some(since), Some(until)) if since > until => bail!("--since is later than --until"),
        // Times are printed in whole seconds.
        (Some(at), _) if at.as_second() > end.as_second() => return Err(not_within(at, first, end)),
        (_, Some(at)) if at.as_second() < first.as_second() => return Err(not_within(at, first, end)),
        _ => {}
    }
    // Nothing is known after the end.
    let (since, wanted) = (since.unwrap_or(first).max(first), until.unwrap_or(now));
    let until = until.unwrap_or(end).min(end);
    let Some(service) = &args.service else {
        return summary::print(global, args, &mut archive, namespace, (since, until));
    };
    let key = ObjectKey::new(namespace.unwrap_or_default(), service.as_str());
    let mut replay = archive.replay(Select::Service(key.clone()), since)?;
    let existed = replay.object(Kind::Service, &key).is_some();
    let mut timeline = Timeline::of_service(&key, global.settings(), &mut replay, until)?;
    if !existed && timeline.entries.is_empty() && !timeline.has_unknown_writes {
        output::message("error: ", format_args!("the history has no Service {key} between {since} and its end"));
        return Ok(ExitCode::FAILURE);
    }
    timeline.entries.retain(|entry| is_wanted(entry, args));
    let lines =
        if args.all { timeline.entries.iter().cloned().map(Into::into).collect() } else { fold(&timeline.entries) };
    let service = ObjectRef::new(Kind::Service, &key);
    let document = Document { items: &lines, gaps: &timeline.gaps };
    output::print(&output.render(&document, &[&service], |_| text(&timeline, &lines))?)?;
    if lines.is_empty() && !timeline.has_unknown_writes {
        let [since, until] = [since, until].map(shown);
        let of = args
            .pod
            .as_ref()
            .map_or_else(|| "the endpoints of".to_owned(), |pod| format!("Pod {pod} as an endpoint of"));
        output::message("", format_args!("No change of {of} {key} from {since} to {until}."));
    } else if wanted.duration_since(end) > MARKED {
        output::message("", format_args!("The history ends at {}: later changes are unknown.", shown(end)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether an entry is printed: those without an effect with `--all` only.
fn is_wanted(entry: &Entry, args: &HistoryArgs) -> bool {
    let of_pod = |pod: &String| match &entry.endpoint {
        Some(endpoint) => endpoint.pod.as_ref() == Some(pod),
        None => entry.cause.object.kind == Kind::Pod && entry.cause.object.name == *pod,
    };
    (args.all || entry.has_effect()) && args.pod.as_ref().is_none_or(of_pod)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kube_endpoints_history::timeline::{Action, Cause, EndpointChange, EndpointState};
    use rstest::rstest;

    use super::*;

    fn entry(pod: &str, has_effect: bool) -> Entry {
        let object = ObjectRef { kind: Kind::Pod, namespace: "shop".to_owned(), name: pod.to_owned() };
        let (from, to) = (EndpointState::Ready, EndpointState::NotReady);
        let endpoint =
            EndpointChange { address: "10.1.0.1".to_owned(), pod: Some(pod.to_owned()), from, to, ports: None };
        Entry {
            time: Timestamp::UNIX_EPOCH,
            endpoint: has_effect.then_some(endpoint),
            hints: None,
            cause: Cause { object, action: Action::Changed, reason: None, ended: false, manager: None, user: None },
            ready: 1,
            written: None,
        }
    }

    #[rstest]
    #[case::with_effect(entry("a", true), None, false, true)]
    #[case::without_effect(entry("a", false), None, false, false)]
    #[case::all(entry("a", false), None, true, true)]
    #[case::of_the_pod(entry("a", true), Some("a"), false, true)]
    #[case::of_another_pod(entry("a", true), Some("b"), false, false)]
    #[case::all_of_another_pod(entry("a", false), Some("b"), true, false)]
    fn entries_are_selected(
        #[case] entry: Entry,
        #[case] pod: Option<&str>,
        #[case] all: bool,
        #[case] expected: bool,
    ) {
        let (service, pod) = (Some("web".to_owned()), pod.map(str::to_owned));
        let args = HistoryArgs { service, summary: false, top: 10, since: None, until: None, pod, all };
        assert_eq!(is_wanted(&entry, &args), expected);
    }
}
