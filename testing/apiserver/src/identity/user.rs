//! Users and predefined groups.

/// Name, uid and groups of a user, as set by authentication and used by authorization.
///
/// ```
/// use kube_dev_apiserver::User;
///
/// let alice = User::new("alice").group("developers");
/// let controller = User::service_account("kube-system", "endpoint-controller");
/// assert_eq!(controller.name, "system:serviceaccount:kube-system:endpoint-controller");
/// # let _ = alice;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// Name of the user, such as `alice` or `system:serviceaccount:default:builder`.
    pub name: String,
    /// Uid of the user; empty except for service accounts.
    pub uid: String,
    /// Groups of the user. `system:authenticated` is added on authentication and need not be listed.
    pub groups: Vec<String>,
}

/// Group that RBAC allows everything.
pub(crate) const MASTERS: &str = "system:masters";
/// Group of all authenticated users.
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

impl User {
    /// Returns a user without groups.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Returns the same user with `group` added.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }

    /// Returns the user of a `ServiceAccount`, with its two groups.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::new(format!("system:serviceaccount:{namespace}:{name}"))
            .group(SERVICE_ACCOUNTS)
            .group(format!("{SERVICE_ACCOUNTS}:{namespace}"))
    }

    /// Returns the user `kubernetes-admin` in group `system:masters`.
    pub(crate) fn admin() -> Self {
        Self::new("kubernetes-admin").group(MASTERS)
    }

    pub(crate) fn anonymous() -> Self {
        Self::new(ANONYMOUS).group(UNAUTHENTICATED)
    }

    /// Adds the group of authenticated or unauthenticated users, unless the groups contain one of them.
    pub(crate) fn impersonated(mut self) -> Self {
        if self.groups.iter().any(|group| group == UNAUTHENTICATED) {
            return self;
        }
        if self.name != ANONYMOUS {
            return self.authenticated();
        }
        self.groups.push(UNAUTHENTICATED.to_owned());
        self
    }

    /// Adds the group `system:authenticated`, unless the user is `system:anonymous`.
    pub(crate) fn authenticated(mut self) -> Self {
        if self.name != ANONYMOUS && !self.groups.iter().any(|group| group == AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}
