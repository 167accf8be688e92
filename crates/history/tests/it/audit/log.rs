//! Logs, and what is read from them.

use std::io::Cursor;

use kube_endpoints_history::audit::AuditLogs;
use kube_endpoints_history::{Action, Author, Change, Recorded, What};
use serde_json::Value;

pub(crate) use super::samples::{event, lines, pod, with};

/// Reads files as one log.
pub(crate) fn logs(files: impl IntoIterator<Item = Vec<u8>>) -> AuditLogs {
    let mut logs = AuditLogs::new(None);
    for (number, file) in files.into_iter().enumerate() {
        logs.add(&format!("{}.log", number + 1), Cursor::new(file)).expect("readable");
    }
    logs
}

/// Returns the changes in words.
pub(crate) fn changes(log: &[Value]) -> String {
    described(&mut logs([lines(log)]))
}

pub(crate) fn described(logs: &mut AuditLogs) -> String {
    std::iter::from_fn(|| logs.next_change()).map(|change| describe(&change) + "\n").collect()
}

fn describe(change: &Change) -> String {
    let time = change.seen.strftime("%S%.3f");
    let by = match &change.author {
        Some(Author { manager, user, .. }) => format!(" by {manager} ({user})"),
        None => String::new(),
    };
    let what = match &change.what {
        What::Put { before: None, after } => format!("+ {}", state(after)),
        What::Put { before: Some(_), after } => format!("~ {}", state(after)),
        What::Removed(before) => format!("- {:?} {}", before.kind(), before.key()),
        What::Gap(gap) => format!("gap: {}", gap.reason),
        What::Unknown(write) => {
            let action = match write.action {
                Action::Created => "created",
                Action::Changed => "changed",
                Action::Deleted => "deleted",
            };
            let known = if write.is_recorded { "" } else { "unknown " };
            format!("? {known}{:?} {} {action}", write.kind, write.key)
        }
    };
    format!("{time} {what}{by}")
}

fn state(object: &Recorded) -> String {
    let flag = |set: bool, name: &str| if set { format!(" {name}") } else { String::new() };
    let more = match object {
        Recorded::Pod(pod) => {
            let ips: Vec<String> = pod.pod_ips.iter().map(ToString::to_string).collect();
            [
                flag(pod.ready, "ready"),
                flag(pod.terminating, "terminating"),
                flag(pod.finished, "finished"),
                flag(!pod.node_name.is_empty(), &format!("on {}", pod.node_name)),
                flag(!ips.is_empty(), &ips.join(",")),
                flag(pod.labels.get("app") != Some("web"), &format!("{:?}", pod.labels)),
            ]
            .concat()
        }
        Recorded::Node(node) => flag(node.ready, "ready") + &flag(!node.zone.is_empty(), &node.zone),
        Recorded::EndpointSlice(slice) => format!(" {}", slice.endpoints.len()),
        Recorded::Service(service) => flag(service.terminating, "terminating"),
        Recorded::Endpoints(_) => String::new(),
    };
    format!("{:?} {}{more}", object.kind(), object.key())
}
