//! Selectors that can match no request, because of a verb, group or resource that the server does not serve.

use std::sync::Arc;

use super::On;
use crate::http;
use crate::kinds::Kind;

/// Maximum number of edits, transpositions included, between a resource that is not served and those that the error names
/// as similar.
const MAX_DISTANCE: usize = 2;

/// Error of a selector that can match no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnmatchableError {
    /// No request has the verb.
    #[error("there is no verb {verb:?}; the verbs are {}", Kind::VERBS.join(", "))]
    Verb { verb: String },
    /// The server does not serve the group, or the resource in it.
    #[error("the server does not serve the {missing}; {served}; a kind that is not built in has to be defined first")]
    NotServed {
        /// The group or resource.
        missing: String,
        /// What the server serves instead.
        served: String,
    },
}

/// A resource that the server serves.
#[derive(Debug, Clone, Copy)]
struct Served<'a> {
    group: &'a str,
    plural: &'a str,
    short_names: &'a [String],
}

/// Returns an error if `on` selects a group or resource that is neither that of one of `kinds` nor a virtual one.
pub(super) fn check(on: &On, kinds: &[Arc<Kind>]) -> Result<(), UnmatchableError> {
    let of_kinds = kinds.iter().map(|it| Served { group: &it.group, plural: &it.plural, short_names: &it.short_names });
    let of_reviews = http::virtual_resources().map(|(group, plural)| Served { group, plural, short_names: &[] });
    let served: Vec<Served<'_>> = of_kinds.chain(of_reviews).collect();
    let in_group: Vec<Served<'_>> = match &on.group {
        None => served.clone(),
        Some(group) => served.iter().copied().filter(|it| it.group == group).collect(),
    };
    let group = on.group.as_deref().unwrap_or_default();
    if in_group.is_empty() {
        let groups = joined(served.iter().map(|it| group_name(it.group).to_owned()));
        return Err(not_served(format!("group {group:?}"), format!("the groups are {groups}")));
    }
    let Some(resource) = on.resource.as_deref().filter(|it| !it.is_empty()) else { return Ok(()) };
    if in_group.iter().any(|it| it.plural == resource) {
        return Ok(());
    }
    let similar = similar(resource, &served);
    let alternatives = if similar.is_empty() {
        let owner = if on.group.is_some() { "group" } else { "server" };
        format!("the {owner} has {}", joined(in_group.iter().map(|it| it.plural.to_owned())))
    } else {
        format!("similar: {}", joined(similar.iter().map(Served::name)))
    };
    let of_group = if on.group.is_some() { format!(" in the group {group:?}") } else { String::new() };
    Err(not_served(format!("resource {resource:?}{of_group}"), alternatives))
}

fn not_served(missing: String, served: String) -> UnmatchableError {
    UnmatchableError::NotServed { missing, served }
}

/// Returns the resources whose name is nearest to `resource`, which may be a kind, a short name or `PLURAL/SUBRESOURCE`.
fn similar<'a>(resource: &str, served: &[Served<'a>]) -> Vec<Served<'a>> {
    let name = resource.split('/').next().unwrap_or_default().to_lowercase();
    let nearest = served.iter().map(|it| it.distance(&name)).min().filter(|distance| *distance <= MAX_DISTANCE);
    served.iter().copied().filter(|it| Some(it.distance(&name)) == nearest).collect()
}

impl Served<'_> {
    fn name(&self) -> String {
        format!("{} ({})", self.plural, group_name(self.group))
    }

    fn distance(&self, name: &str) -> usize {
        if self.short_names.iter().any(|it| it == name) { 0 } else { strsim::osa_distance(self.plural, name) }
    }
}

fn group_name(group: &str) -> &str {
    if group.is_empty() { "core" } else { group }
}

/// Sorts names, removes duplicates, and joins the rest. `core` is the first.
fn joined(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.sort_by(|a, b| (a != "core", a).cmp(&(b != "core", b)));
    names.dedup();
    names.join(", ")
}
