//! Table rows of Events of both API groups.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, at, name, or, text};

pub(super) const COLUMNS: &str = "Last_Seen Type Reason Object Subobject+ Source+ Message First_Seen+ Count#+ Name+";

pub(super) fn cells(event: &Value, now: Timestamp) -> Vec<Value> {
    // Fields have different names in `events.k8s.io`.
    let either = |old: &str, new: &str| or(text(event, old), text(event, new)).to_owned();
    let since = |time: &str| age::since(time, now);
    let event_time = text(event, "eventTime");
    let first = either("firstTimestamp", "deprecatedFirstTimestamp");
    let first = since(or(&first, event_time));
    let last = either("lastTimestamp", "deprecatedLastTimestamp");
    let last = if last.is_empty() { first.clone() } else { since(&last) };
    let number = |path: &str| at(event, path).and_then(Value::as_i64);
    let series = number("series.count");
    let count = series.or(number("count")).or(number("deprecatedCount")).unwrap_or(1);
    let seen = match series {
        Some(count) => format!("{} (x{count} over {first})", since(text(event, "series.lastObservedTime"))),
        None if count > 1 => format!("{last} (x{count} over {first})"),
        None => last,
    };

    let kind = either("involvedObject.kind", "regarding.kind").to_lowercase();
    let about = either("involvedObject.name", "regarding.name");
    let object = if about.is_empty() { kind } else { format!("{kind}/{about}") };
    let component = either("source.component", "deprecatedSource.component");
    let (component, host) = if component.is_empty() {
        (either("reportingComponent", "reportingController"), text(event, "reportingInstance").to_owned())
    } else {
        (component, either("source.host", "deprecatedSource.host"))
    };
    let source = if host.is_empty() { component } else { format!("{component}, {host}") };
    vec![
        json!(seen),
        json!(text(event, "type")),
        json!(text(event, "reason")),
        json!(object),
        json!(either("involvedObject.fieldPath", "regarding.fieldPath")),
        json!(source),
        json!(either("message", "note").trim()),
        json!(first),
        json!(count),
        name(event),
    ]
}
