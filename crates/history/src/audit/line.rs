//! What a value of a log is: an event, an event in the wrapper of an exporter, or an object.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::{Content, kind_of_object};
use super::event::Event;
use super::google;

/// Largest number of wrappers around an event.
const WRAPPERS: usize = 4;

/// A value of a log.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// An audit event.
    Event(Box<Event<'a>>),
    /// An object that kubectl has printed.
    Object(Content),
    /// Something else.
    Foreign,
}

/// The fields by which a value is recognized.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outer<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    api_version: Option<&'a RawValue>,
    /// Google Cloud: `LogEntry`.
    #[serde(borrow)]
    proto_payload: Option<&'a RawValue>,
    /// Amazon: log events of the API and of subscriptions.
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    /// Amazon: results of a query.
    #[serde(borrow, rename = "@message")]
    queried_message: Option<&'a RawValue>,
    /// Azure: `properties.log` in storage accounts and event hubs.
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    /// Azure, and agents that read the log of a container.
    #[serde(borrow)]
    log: Option<&'a RawValue>,
    /// Azure: results of a query.
    #[serde(borrow, rename = "log_s")]
    queried_log: Option<&'a RawValue>,
}

/// Calls `read` with what a value is.
pub(super) fn parse(value: &[u8], read: &mut dyn FnMut(Line<'_>)) {
    parse_nested(value, 0, false, read);
}

fn parse_nested(value: &[u8], wrappers: usize, is_of_all_servers: bool, read: &mut dyn FnMut(Line<'_>)) {
    let Ok(outer) = serde_json::from_slice::<Outer<'_>>(value) else { return read(Line::Foreign) };
    let (kind, api_version) = (text(outer.kind), text(outer.api_version));
    if kind == "Event" && api_version.starts_with("audit.k8s.io/") {
        let event = Event::parse(value);
        return read(event.map_or(Line::Foreign, |it| Line::Event(Box::new(Event { is_of_all_servers, ..it }))));
    }
    if let Some(kind) = kind_of_object(api_version, kind) {
        let content = str::from_utf8(value).ok().and_then(|value| Content::parse(kind, value));
        return read(content.map_or(Line::Foreign, Line::Object));
    }
    if let Some(payload) = outer.proto_payload {
        return read(google::parse(value, payload).map_or(Line::Foreign, |event| Line::Event(Box::new(event))));
    }
    let wrapped = [outer.message, outer.queried_message, outer.log, outer.queried_log, outer.properties];
    match wrapped.into_iter().flatten().find_map(object) {
        Some(wrapped) if wrappers < WRAPPERS => {
            // Diagnostic settings of Azure: the other exporters have a stream for each server.
            let is_of_all = is_of_all_servers || outer.properties.is_some() || outer.queried_log.is_some();
            parse_nested(&wrapped, wrappers + 1, is_of_all, read);
        }
        _ => read(Line::Foreign),
    }
}

/// Returns a string without its quotes; empty for another value. The strings that are looked for have no escapes.
fn text(value: Option<&RawValue>) -> &str {
    let value = value.map(RawValue::get).unwrap_or_default();
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default()
}

/// Returns an object, or the one that a string contains.
fn object(value: &RawValue) -> Option<Cow<'_, [u8]>> {
    let value = value.get();
    if value.starts_with('{') {
        return Some(Cow::Borrowed(value.as_bytes()));
    }
    let text: String = serde_json::from_str(value).ok()?;
    let object = text.trim_start();
    object.starts_with('{').then(|| Cow::Owned(object.as_bytes().to_vec()))
}
