//! Selector of the requests that a fault hits or an assertion is about.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::UnmatchableError;
use crate::kinds::Kind;
use crate::requests::LoggedRequest;

/// Selector of requests. Conditions that are not set match every request.
///
/// A selector that can match no request makes a test pass for the wrong reason. Therefore [`verb`](Self::verb) panics for
/// an unknown verb, and the methods of [`Faults`](super::Faults) and [`Requests`](crate::Requests) for a group or
/// resource that the server does not serve.
///
/// ```
/// use kube_dev_apiserver::On;
///
/// let pods = On::any().verb("list").verb("watch").resource("pods");
/// let one = On::writes().resource("endpointslices").namespace("default").name("web-x7k2p");
/// # let _ = (pods, one);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct On {
    #[serde(deserialize_with = "known_verbs")]
    verbs: Vec<String>,
    pub(super) group: Option<String>,
    pub(super) resource: Option<String>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    user: Option<String>,
    user_agent: Option<String>,
}

impl On {
    /// Returns a selector that matches every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Returns a selector that matches every create, update, patch, delete and delete-collection.
    pub fn writes() -> Self {
        Self { verbs: Kind::WRITES.map(str::to_owned).into(), ..Self::any() }
    }

    /// Matches requests with this verb; several calls match any of the verbs. The verbs are `create`, `delete`,
    /// `deletecollection`, `get`, `list`, `patch`, `update` and `watch`; `get` also matches GET of a non-resource path,
    /// such as one of discovery.
    ///
    /// # Panics
    /// If there is no such verb.
    #[must_use]
    #[track_caller]
    pub fn verb(mut self, verb: &str) -> Self {
        match known_verb(verb) {
            Ok(verb) => self.verbs.push(verb),
            Err(error) => panic!("{error}"),
        }
        self
    }

    /// Matches requests for resources of an API group; the empty string is the core group.
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// Matches requests for a resource, given by its plural name, and for its subresources such as `status`;
    /// [`subresource("")`](Self::subresource) excludes these. The empty string matches requests for a non-resource path.
    #[must_use]
    pub fn resource(mut self, plural: &str) -> Self {
        self.resource = Some(plural.to_owned());
        self
    }

    /// Matches requests for a subresource such as `status`; the empty string matches requests without one.
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Matches requests in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Matches requests for the object of this name, lists with a field selector for it included.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Matches requests of the user of this name.
    #[must_use]
    pub fn user(mut self, user: &str) -> Self {
        self.user = Some(user.to_owned());
        self
    }

    /// Matches requests whose `User-Agent` contains `part`.
    #[must_use]
    pub fn user_agent(mut self, part: &str) -> Self {
        self.user_agent = Some(part.to_owned());
        self
    }

    pub(crate) fn matches(&self, request: &LoggedRequest) -> bool {
        let Self { verbs, group, resource, subresource, namespace, name, user, user_agent } = self;
        let matches_field =
            |expected: &Option<String>, found: &str| expected.as_deref().is_none_or(|expected| expected == found);
        (verbs.is_empty() || verbs.contains(&request.verb))
            && matches_field(group, &request.group)
            && matches_field(resource, &request.resource)
            && matches_field(subresource, &request.subresource)
            && matches_field(namespace, &request.namespace)
            && matches_field(name, &request.name)
            && matches_field(user, &request.user)
            && user_agent.as_deref().is_none_or(|part| request.user_agent.contains(part))
    }
}

/// Formats the conditions in one line, named as in the filters of `/debug/requests`.
impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verbs, group, resource, subresource, namespace, name, user, user_agent } = self;
        let verbs = (!verbs.is_empty()).then(|| verbs.join(","));
        let conditions = [
            ("verb", &verbs),
            ("group", group),
            ("resource", resource),
            ("subresource", subresource),
            ("namespace", namespace),
            ("name", name),
            ("user", user),
            ("userAgent", user_agent),
        ];
        let set = conditions.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
        let set: Vec<String> = set.collect();
        f.write_str(if set.is_empty() { "any request" } else { "" })?;
        f.write_str(&set.join(" "))
    }
}

fn known_verb(verb: &str) -> Result<String, UnmatchableError> {
    if Kind::VERBS.contains(&verb) {
        Ok(verb.to_owned())
    } else {
        Err(UnmatchableError::Verb { verb: verb.to_owned() })
    }
}

fn known_verbs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let verbs = Vec::<String>::deserialize(deserializer)?;
    verbs.iter().map(|verb| known_verb(verb).map_err(D::Error::custom)).collect()
}
