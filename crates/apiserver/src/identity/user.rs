//! Who a request is of.

use serde::{Deserialize, Serialize};

/// A user as authentication and authorization know one.
///
/// ```
/// use kube_dev_apiserver::User;
///
/// let alice = User::new("alice").group("developers");
/// let controller = User::service_account("kube-system", "endpoint-controller");
/// assert_eq!(controller.name, "system:serviceaccount:kube-system:endpoint-controller");
/// # let _ = alice;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The name.
    pub name: String,
    /// The uid; empty for all but service accounts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups, without `system:authenticated`, which every user is in that says who it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

/// The group that may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everybody who says who it is.
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

impl User {
    /// A user of this name, in no group.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The same user, in this group too.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }

    /// The user that a `ServiceAccount` is.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::new(format!("system:serviceaccount:{namespace}:{name}"))
            .group(SERVICE_ACCOUNTS)
            .group(format!("{SERVICE_ACCOUNTS}:{namespace}"))
    }

    /// The user that may do everything.
    pub(crate) fn admin() -> Self {
        Self::new("kubernetes-admin").group(MASTERS)
    }

    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS).group(UNAUTHENTICATED)
    }

    /// The same user, in the group of all that have said who they are.
    pub(crate) fn authenticated(mut self) -> Self {
        if self.name != ANONYMOUS && !self.groups.iter().any(|group| group == AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
