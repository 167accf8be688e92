//! Audit events.

use std::borrow::Cow;

use jiff::Timestamp;
use kube_endpoint_model::Uid;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Longest name of a user or field manager that is recorded, in bytes. Field managers have at most 128.
const LONGEST_NAME: usize = 256;
/// Longest label selector that is kept, in bytes.
const LONGEST_SELECTOR: usize = 1_024;

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

/// How far the server is with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has been received, or has panicked.
    Other,
    /// The answer has begun: only of watches and other long requests.
    Started,
    Complete,
}

/// A request to the API server.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub(super) struct Event<'a> {
    /// `auditID` of the request; empty if it is unknown.
    pub(super) id: Cow<'a, str>,
    pub(super) level: Level,
    /// Time at which the answer was complete.
    pub(super) time: Timestamp,
    pub(super) stage: Stage,
    /// Whether the user may not send such requests.
    pub(super) is_denied: bool,
    /// Whether the exporter puts the logs of all API servers of a cluster together.
    pub(super) is_of_all_servers: bool,
    /// Whether the server has applied the request: other events announce one, or are about one that has failed or was a dry run.
    pub(super) is_applied: bool,
    /// Whether labels or fields select the objects of the request.
    pub(super) is_selective: bool,
    /// Label selector; `None` without one, and if it is unknown or too long.
    pub(super) labels: Option<String>,
    /// Name that the field selector requires.
    pub(super) selected_name: Option<String>,
    /// UID of the object that no longer exists, as the status of the answer says; `None` if it does not.
    pub(super) deleted: Option<Uid>,
    pub(super) verb: String,
    pub(super) user: String,
    pub(super) agent: String,
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
    #[serde(borrow, default, rename = "auditID")]
    audit_id: Cow<'a, str>,
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

/// `details` of a Status.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    pub(super) uid: Uid,
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
        let stage = match document.stage.as_str() {
            "ResponseComplete" => Stage::Complete,
            "ResponseStarted" => Stage::Started,
            _ => Stage::Other,
        };
        Some(Event {
            id: document.audit_id,
            level: match document.level.as_str() {
                "RequestResponse" => Level::RequestResponse,
                "Request" => Level::Request,
                _ => Level::Metadata,
            },
            time,
            stage,
            is_denied: matches!(status.code, 401 | 403),
            is_of_all_servers: false,
            is_applied: stage == Stage::Complete
                && status.code < 400
                && status.status != "Failure"
                && !query.is_dry_run,
            is_selective: query.is_selective,
            labels: query.labels.filter(|it| it.len() <= LONGEST_SELECTOR),
            selected_name: query.name,
            deleted: (status.status == "Success").then_some(status.details.uid),
            verb: document.verb,
            user: short(user),
            manager: query.manager.map_or_else(|| manager_of(&document.user_agent), short),
            agent: short(document.user_agent),
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
    labels: Option<String>,
    name: Option<String>,
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
                "labelSelector" => {
                    query.is_selective = true;
                    query.labels = Some(value.into_owned());
                }
                "fieldSelector" => {
                    query.is_selective = true;
                    let name = value.split(',').find_map(|it| it.strip_prefix("metadata.name="));
                    query.name = name.map(|name| name.trim_start_matches('=').to_owned());
                }
                _ => {}
            }
        }
        query
    }
}
