//! What events say about objects.

use jiff::Timestamp;
use kube_endpoint_model::{ObjectKey, Text, Uid};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::{Content, kind_of_resource};
use super::event::{Details, Event, Level};
use super::patch::Patch;
use crate::{Action, Author, Kind};

/// Longest name of a namespace or object, in bytes.
const LONGEST_NAME: usize = 253;

/// Largest number of deleted objects that are read in an answer.
const MOST_DELETED: usize = 16 << 10;

/// A write of one object, or of all of a kind.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) kind: Kind,
    /// The object; of a deletion of [all](Effect::AllDeleted), only the namespace.
    pub(super) key: ObjectKey,
    /// UID of the object; empty if it is unknown.
    pub(super) uid: Uid,
    /// Version of the object after the write; 0 if it is unknown.
    pub(super) version: u64,
    pub(super) seen: Timestamp,
    pub(super) author: Author,
    pub(super) action: Action,
    pub(super) effect: Effect,
    /// Length of the request and the answer, in bytes.
    pub(super) length: usize,
}

/// Outcome of a write.
#[derive(Debug)]
pub(super) enum Effect {
    /// The object is this one.
    Is(Box<Content>),
    /// The object no longer exists.
    Removed(Incarnation),
    /// The object, or its status, is what was requested; the server has kept the other part.
    Requested(Box<Content>, Part),
    /// A part of the object was replaced.
    Patched(Patch),
    /// A Pod was assigned to a Node.
    Bound(Text),
    /// The deletion of the object began. It has the grace period of the request, in seconds, or its own. The state before is in
    /// the answer of some requests.
    Deletion { grace: Option<i64>, before: Option<Box<Content>> },
    /// The same for all objects of the kind, in the namespace or everywhere.
    AllDeleted { grace: Option<i64>, is_selective: bool },
    /// The event does not say.
    Unknown,
}

/// One of the objects that have the same name one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Incarnation {
    /// UID; empty if it is unknown.
    pub(super) uid: Uid,
    /// A version of it, which may be that of its deletion; 0 if it is unknown.
    pub(super) version: u64,
}

/// Part of an object that a request can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All but the status.
    Main,
    /// The status.
    Status,
}

/// What an event is for a history.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The request has changed no object: it reads, has failed, or was a dry run.
    NoChange,
    /// It is about another kind of object, or another namespace.
    Other,
    /// It has written objects.
    Writes(Vec<Write>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteOptions {
    grace_period_seconds: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Eviction {
    delete_options: Option<DeleteOptions>,
}

#[derive(Deserialize)]
struct Binding {
    target: BindingTarget,
}

#[derive(Deserialize)]
struct BindingTarget {
    name: String,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

impl Meaning {
    /// Returns what an event means for the objects of a namespace, or of all.
    pub(super) fn of(event: &Event<'_>, namespace: Option<&str>) -> Meaning {
        let target = &event.target;
        let Some(kind) = kind_of_resource(&target.group, &target.resource) else { return Meaning::Other };
        let action = match event.verb.as_str() {
            "create" => Action::Created,
            "update" | "patch" => Action::Changed,
            "delete" | "deletecollection" => Action::Deleted,
            _ => return Meaning::NoChange,
        };
        // `log`, `exec` and others do not change the object.
        let changes =
            matches!(&*target.subresource, "" | "status" | "binding" | "eviction" | "ephemeralcontainers" | "resize");
        if !changes || !event.is_applied {
            return Meaning::NoChange;
        }
        if kind != Kind::Node && namespace.is_some_and(|it| it != target.namespace) {
            return Meaning::Other;
        }
        Meaning::Writes(if event.verb == "deletecollection" {
            deleted(event, kind)
        } else {
            one(event, kind, action).into_iter().collect()
        })
    }
}

/// Returns the write of one object; `None` if its name is unknown.
fn one(event: &Event<'_>, kind: Kind, action: Action) -> Option<Write> {
    let target = &event.target;
    let answer = event.response.and_then(|raw| Content::parse(kind, raw.get()));
    let (action, effect) = match (event.verb.as_str(), target.subresource.as_str()) {
        ("create", "binding") => (Action::Changed, parsed(event.request, |Binding { target }| bound(&target))),
        ("create", "eviction") => {
            let options = parsed(event.request, |it: Eviction| it.delete_options).flatten();
            (Action::Deleted, Some(begun_deletion(event, options)))
        }
        ("delete", _) => (action, Some(deletion(event, parsed(event.request, |options| options), answer))),
        _ => (action, Some(written(event, kind, answer))),
    };
    let effect = effect.unwrap_or(Effect::Unknown);
    let (key, it) = match &effect {
        Effect::Is(content) => (content.object.key(), content.incarnation()),
        // The version is the one before.
        Effect::Requested(content, _) => (content.object.key(), Incarnation { version: 0, ..content.incarnation() }),
        Effect::Removed(removed) => (key(event, kind, ""), removed.clone()),
        _ => (key(event, kind, ""), Incarnation::default()),
    };
    let uid = if it.uid.is_empty() { target.uid.clone() } else { it.uid };
    let write = write(event, kind, key, action, effect);
    is_name(&write.key).then_some(Write { uid, version: it.version, ..write })
}

/// Returns the key that an event names, or the name of its object.
fn key(event: &Event<'_>, kind: Kind, name: &str) -> ObjectKey {
    let namespace = if kind == Kind::Node { "" } else { &event.target.namespace };
    let name = if event.target.name.is_empty() { name } else { &event.target.name };
    ObjectKey::new(namespace, name)
}

fn is_name(key: &ObjectKey) -> bool {
    !key.name.is_empty() && key.name.len().max(key.namespace.len()) <= LONGEST_NAME
}

fn bound(target: &BindingTarget) -> Effect {
    Effect::Bound(target.name.as_str().into())
}

fn parsed<'a, T: Deserialize<'a>, R>(raw: Option<&'a RawValue>, then: impl FnOnce(T) -> R) -> Option<R> {
    serde_json::from_str(raw?.get()).ok().map(then)
}

fn write(event: &Event<'_>, kind: Kind, key: ObjectKey, action: Action, effect: Effect) -> Write {
    let stated = match &effect {
        Effect::Is(content) => content.author.as_ref(),
        _ => None,
    };
    let manager = match stated {
        Some(stated) if event.manager.is_empty() => stated.manager.clone(),
        _ => event.manager.as_str().into(),
    };
    let author = Author { manager, user: event.user.as_str().into(), time: stated.and_then(|stated| stated.time) };
    let length = [event.request, event.response].into_iter().flatten().map(|raw| raw.get().len()).sum();
    Write { kind, key, uid: Uid::default(), version: 0, seen: event.time, author, action, effect, length }
}

/// Returns the effect of a request that creates or changes an object.
fn written(event: &Event<'_>, kind: Kind, answer: Option<Content>) -> Effect {
    if let Some(answer) = answer {
        return after(answer, false);
    }
    let requested = || {
        let mut content = event.request.and_then(|raw| Content::parse(kind, raw.get()))?;
        // The request may have the name only in its URI.
        let key = key(event, kind, &content.object.key().name);
        content.object.set_key(key);
        Some(Box::new(content))
    };
    let effect = match (event.verb.as_str(), event.target.subresource.as_str()) {
        ("create", "") => requested().map(Effect::Is),
        ("update", "") => requested().map(|content| Effect::Requested(content, Part::Main)),
        ("update", "status") => requested().map(|content| Effect::Requested(content, Part::Status)),
        ("patch", subresource) => {
            event.request.and_then(|raw| Patch::parse(kind, subresource, raw)).map(Effect::Patched)
        }
        _ => None,
    };
    effect.unwrap_or(Effect::Unknown)
}

/// Returns the effect of a deletion.
fn deletion(event: &Event<'_>, options: Option<DeleteOptions>, answer: Option<Content>) -> Effect {
    if let Some(answer) = answer {
        return after(answer, true);
    }
    match event.deleted.clone().or_else(|| deleted_uid(event.response)) {
        Some(uid) => Effect::Removed(Incarnation { uid, version: 0 }),
        None => begun_deletion(event, options),
    }
}

/// Returns the effect of a deletion whose answer does not have the object.
fn begun_deletion(event: &Event<'_>, options: Option<DeleteOptions>) -> Effect {
    // The kubelet deletes Pods whose containers have ended.
    let is_kubelet = event.user.starts_with("system:node:");
    let own = options.and_then(|options| options.grace_period_seconds);
    Effect::Deletion { grace: own.or(is_kubelet.then_some(0)), before: None }
}

/// Returns the effect of a request whose answer is an object.
fn after(answer: Content, is_deletion: bool) -> Effect {
    if answer.is_gone(is_deletion) { Effect::Removed(answer.incarnation()) } else { Effect::Is(Box::new(answer)) }
}

/// Returns the UID in an answer that is a Status: the server returns no object of most kinds that it has deleted.
fn deleted_uid(answer: Option<&RawValue>) -> Option<Uid> {
    #[derive(Deserialize)]
    struct Status {
        kind: String,
        #[serde(default)]
        details: Details,
    }
    parsed(answer, |Status { kind, details }| (kind == "Status").then_some(details.uid)).flatten()
}

/// Returns the writes of a deletion of a collection. The answer is the list of the objects as they were before.
fn deleted(event: &Event<'_>, kind: Kind) -> Vec<Write> {
    let options: Option<DeleteOptions> = parsed(event.request, |options| options);
    let grace = options.and_then(|options| options.grace_period_seconds);
    let listed =
        if event.level == Level::RequestResponse { parsed(event.response, |List { items }| items) } else { None };
    let Some(items) = listed else {
        let effect = Effect::AllDeleted { grace, is_selective: event.is_selective };
        let key = ObjectKey::new(event.target.namespace.as_str(), "");
        return vec![write(event, kind, key, Action::Deleted, effect)];
    };
    let items = items
        .into_iter()
        .filter_map(|item| Content::parse(kind, item.get()).map(|content| (content, item.get().len())));
    items
        .take(MOST_DELETED)
        .map(|(content, length)| {
            let (key, uid) = (content.object.key(), content.object.uid());
            let effect = Effect::Deletion { grace, before: Some(Box::new(content)) };
            Write { uid, length, ..write(event, kind, key, Action::Deleted, effect) }
        })
        .filter(|write| is_name(&write.key))
        .collect()
}
