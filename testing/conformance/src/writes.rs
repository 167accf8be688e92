//! Writes of the controllers, counted from the log of an API server.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;

/// Substring of the user agents of the controllers, both of this repository and of kube-controller-manager.
pub const CONTROLLERS: &str = "controller-manager";

/// User agent of the player.
pub(crate) const PLAYER: &str = "kube-endpoints-conformance";

/// Resources that the endpoint controllers write, in the order in which a [`Tally`] is formatted.
const COUNTED: [&str; 2] = ["endpointslices", "endpoints"];

/// Clients whose writes are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writers(Option<String>);

impl Writers {
    /// Clients whose user agent contains `part`.
    pub fn with_user_agent(part: &str) -> Self {
        Self(Some(part.to_owned()))
    }

    /// All clients but the player: on a server without other clients, the controllers under test.
    pub fn all_but_the_player() -> Self {
        Self(None)
    }

    /// Returns whether requests with this user agent are counted.
    pub fn include(&self, user_agent: &str) -> bool {
        match &self.0 {
            Some(part) => user_agent.contains(part.as_str()),
            None => user_agent != PLAYER,
        }
    }

    /// Returns whether a write is one of these clients to EndpointSlices or Endpoints.
    pub fn count(&self, write: &Write) -> bool {
        self.include(&write.user_agent) && COUNTED.contains(&write.resource.as_str())
    }
}

/// One create, update, patch or delete request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: String,
    /// The plural of the resource.
    pub resource: String,
    /// The namespace of the object; empty for resources without namespaces.
    pub namespace: String,
    /// The name of the object; empty for a rejected create whose name the server would have generated.
    pub name: String,
    /// The `User-Agent` header of the request.
    pub user_agent: String,
    /// Status code of the response; `None` if the connection was closed without one.
    pub code: Option<u16>,
    /// Whether the server executed the request, even if it sent no response.
    pub accepted: bool,
}

impl Write {
    /// Parses a line of an audit log. `None` for anything but the last stage of a write that
    /// [counts](Writers::count): reads, requests in progress, other clients, other resources, subresources.
    ///
    /// # Errors
    /// The line is not an `audit.k8s.io/v1` Event.
    pub fn from_audit(line: &str, writers: &Writers) -> Result<Option<Self>, serde_json::Error> {
        let event: AuditEvent = serde_json::from_str(line)?;
        let AuditEvent { stage, verb, user_agent, object_ref, response_status } = event;
        let is_write = matches!(verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection");
        let Some(target) = object_ref.filter(|it| is_write && it.subresource.is_empty()) else { return Ok(None) };
        if stage != "ResponseComplete" {
            return Ok(None);
        }
        let code = response_status.and_then(|status| status.code);
        let AuditTarget { resource, namespace, name, .. } = target;
        let accepted = code.is_some_and(|code| (200..300).contains(&code));
        let write = Self { verb, resource, namespace, name, user_agent, code, accepted };
        Ok(Some(write).filter(|write| writers.count(write)))
    }
}

/// Subset of an `audit.k8s.io/v1` Event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditEvent {
    stage: String,
    verb: String,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<AuditTarget>,
    response_status: Option<AuditStatus>,
}

#[derive(Deserialize)]
struct AuditTarget {
    #[serde(default)]
    resource: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct AuditStatus {
    code: Option<u16>,
}

/// Numbers of writes by resource, verb and whether the server accepted them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<(String, String, bool), usize>,
}

impl Tally {
    /// Counts those of `writes` that [count](Writers::count).
    pub fn of<'a>(writes: impl IntoIterator<Item = &'a Write>, writers: &Writers) -> Self {
        let mut tally = Self::default();
        for write in writes.into_iter().filter(|write| writers.count(write)) {
            let key = (write.resource.clone(), write.verb.clone(), write.accepted);
            *tally.counts.entry(key).or_default() += 1;
        }
        tally
    }

    /// Adds the numbers of another tally.
    pub fn add(&mut self, other: Self) {
        for (key, count) in other.counts {
            *self.counts.entry(key).or_default() += count;
        }
    }

    /// Returns the number of accepted writes with this verb (`create`, `update`, `delete`) to this resource.
    pub fn accepted(&self, resource: &str, verb: &str) -> usize {
        self.get(resource, verb, true)
    }

    /// Returns the number of writes with this verb to this resource that the server did not execute.
    pub fn rejected(&self, resource: &str, verb: &str) -> usize {
        self.get(resource, verb, false)
    }

    /// Returns the number of all writes.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }

    fn get(&self, resource: &str, verb: &str, accepted: bool) -> usize {
        self.counts.get(&(resource.to_owned(), verb.to_owned(), accepted)).copied().unwrap_or_default()
    }
}

/// Formats one line such as
/// `12 writes: endpointslices create 3, update 7 (and 1 rejected), delete 0; endpoints create 1, update 0, delete 0`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} writes", self.total())?;
        for (position, resource) in COUNTED.into_iter().enumerate() {
            write!(f, "{} {resource} ", if position == 0 { ":" } else { ";" })?;
            for (position, verb) in ["create", "update", "delete"].into_iter().enumerate() {
                let separator = if position == 0 { "" } else { ", " };
                let (accepted, rejected) = (self.accepted(resource, verb), self.rejected(resource, verb));
                write!(f, "{separator}{verb} {accepted}")?;
                if rejected > 0 {
                    write!(f, " (and {rejected} rejected)")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn write(verb: &str, resource: &str, code: u16) -> Write {
        Write {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            namespace: "ns".to_owned(),
            name: "web".to_owned(),
            user_agent: "endpoint-controller-manager/1".to_owned(),
            code: Some(code),
            accepted: code < 300,
        }
    }

    fn controllers() -> Writers {
        Writers::with_user_agent(CONTROLLERS)
    }

    #[rstest]
    #[case("endpoint-controller-manager/1", true, true)]
    #[case("pools/1", false, true)]
    #[case(PLAYER, false, false)]
    fn writers(#[case] user_agent: &str, #[case] of_controllers: bool, #[case] of_all: bool) {
        assert_eq!(controllers().include(user_agent), of_controllers);
        assert_eq!(Writers::all_but_the_player().include(user_agent), of_all);
    }

    #[test]
    fn tallies() {
        let all = [
            write("create", "endpointslices", 201),
            write("update", "endpointslices", 200),
            write("update", "endpointslices", 409),
            write("create", "events", 201),
            Write { user_agent: "kubectl".to_owned(), ..write("delete", "endpoints", 200) },
        ];
        let mut tally = Tally::of(&all, &controllers());
        tally.add(Tally::of(&[write("update", "endpointslices", 200)], &controllers()));
        assert_eq!(tally.total(), 4);
        assert_eq!(
            tally.to_string(),
            "4 writes: endpointslices create 1, update 2 (and 1 rejected), delete 0; \
             endpoints create 0, update 0, delete 0"
        );
    }

    const AUDITED: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete",
        "verb":"update","userAgent":"kube-controller-manager/v1.36.2","user":{"username":"u"},
        "objectRef":{"resource":"endpointslices","namespace":"ns","name":"web","apiGroup":"discovery.k8s.io"},
        "responseStatus":{"metadata":{},"code":200}}"#;

    #[rstest]
    #[case::write(AUDITED.to_owned(), Some(true))]
    #[case::rejected(AUDITED.replace("200", "409"), Some(false))]
    #[case::under_way(AUDITED.replace("ResponseComplete", "RequestReceived"), None)]
    #[case::read(AUDITED.replace("update", "list"), None)]
    #[case::other_client(AUDITED.replace("kube-controller-manager", "kubectl"), None)]
    #[case::other_resource(AUDITED.replace("endpointslices", "leases"), None)]
    fn reads_audit_events(#[case] line: String, #[case] accepted: Option<bool>) {
        assert_eq!(Write::from_audit(&line, &controllers()).unwrap().map(|write| write.accepted), accepted);
    }

    #[test]
    fn refuses_what_is_no_audit_event() {
        assert!(Write::from_audit("{}", &controllers()).is_err());
    }
}
