//! Audit events.

use jiff::Timestamp;
use kube_endpoint_model::Uid;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Longest name of a user or field manager that is recorded, in bytes. Field managers have at most 128.
const LONGEST_NAME: usize = 256;

/// How much an event contains, as its policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Who did what to which object.
    Metadata,
    /// Also the body of the request.
    Request,
    /// Also the body of the response.
    RequestResponse,
}

/// A request to the API server.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) level: Level,
    /// Time at which the answer was complete.
    pub(super) time: Timestamp,
    /// Whether the server has applied the request: other events announce one, or are about one that has failed or was a dry run.
    pub(super) is_applied: bool,
    /// Whether labels or fields select the objects of the request.
    pub(super) is_selective: bool,
    /// UID of the object that no longer exists, as the status of the answer says; `None` if it does not.
    pub(super) deleted: Option<Uid>,
    pub(super) verb: String,
    pub(super) user: String,
    /// Field manager; empty if it is unknown.
    pub(super) manager: String,
    pub(super) target: Target,
    pub(super) request: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
}

/// What a request is about.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Target {
    #[serde(rename = "apiGroup")]
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: Uid,
}

/// `audit.k8s.io/v1` Event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(default)]
    level: String,
    #[serde(default)]
    stage: String,
    #[serde(default, rename = "requestURI")]
    request_uri: String,
    #[serde(default)]
    verb: String,
    #[serde(default)]
    user: User,
    impersonated_user: Option<User>,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<Target>,
    response_status: Option<Outcome>,
    #[serde(borrow)]
    request_object: Option<&'a RawValue>,
    #[serde(borrow)]
    response_object: Option<&'a RawValue>,
    stage_timestamp: Option<Timestamp>,
    request_received_timestamp: Option<Timestamp>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct User {
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Outcome {
    code: i64,
    status: String,
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    uid: Uid,
}

impl<'a> Event<'a> {
    /// Parses an `audit.k8s.io` Event; `None` for another document, and for one without a time.
    pub(super) fn parse(value: &'a [u8]) -> Option<Event<'a>> {
        let document: Document<'a> = serde_json::from_slice(value).ok()?;
        let time = document.stage_timestamp.or(document.request_received_timestamp)?;
        let query = Query::of(&document.request_uri);
        let status = document.response_status.unwrap_or_default();
        let user = match document.impersonated_user {
            Some(User { username }) => format!("{username}, impersonated by {}", document.user.username),
            None => document.user.username,
        };
        Some(Event {
            level: match document.level.as_str() {
                "RequestResponse" => Level::RequestResponse,
                "Request" => Level::Request,
                _ => Level::Metadata,
            },
            time,
            is_applied: document.stage == "ResponseComplete"
                && status.code < 400
                && status.status != "Failure"
                && !query.is_dry_run,
            is_selective: query.is_selective,
            deleted: (status.status == "Success").then_some(status.details.uid),
            verb: document.verb,
            user: short(user),
            manager: query.manager.map_or_else(|| manager_of(&document.user_agent), short),
            target: document.object_ref.unwrap_or_default(),
            request: document.request_object,
            response: document.response_object,
        })
    }
}

/// Returns the field manager that the API server uses for a client that names none: its user agent until the first `/`.
pub(super) fn manager_of(user_agent: &str) -> String {
    short(user_agent.split('/').next().unwrap_or_default().to_owned())
}

/// Returns a name without what makes it too long.
pub(super) fn short(mut name: String) -> String {
    let end = (0..=LONGEST_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    name.truncate(end.unwrap_or_default());
    name
}

/// Parameters of a request.
#[derive(Default)]
struct Query {
    manager: Option<String>,
    is_dry_run: bool,
    is_selective: bool,
}

impl Query {
    fn of(uri: &str) -> Query {
        let mut query = Query::default();
        let Some((_, parameters)) = uri.split_once('?') else { return query };
        for (name, value) in form_urlencoded::parse(parameters.as_bytes()).filter(|(_, value)| !value.is_empty()) {
            match &*name {
                "dryRun" => query.is_dry_run = true,
                "fieldManager" => query.manager = Some(value.into_owned()),
                "labelSelector" | "fieldSelector" => query.is_selective = true,
                _ => {}
            }
        }
        query
    }
}
