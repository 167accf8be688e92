//! Impersonation: requests in the name of another user, like upstream's `WithImpersonation`.

use http::HeaderMap;

use crate::attributes::Attributes;
use crate::authorization;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";

/// Returns the user in whose name a request is made: `user` without impersonation headers. Fails with 403 if `user` may
/// not `impersonate` the user or a group.
pub(super) fn effective_user(shared: &Shared, user: User, headers: &HeaderMap) -> Result<User, StatusError> {
    let values = |name| headers.get_all(name).iter().map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    let groups: Vec<String> = values(GROUP).collect();
    let Some(name) = values(USER).next() else { return Ok(user) };
    let account = name.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':'));
    let check = |resource: &str, namespace: &str, name: &str| {
        let attributes = Attributes {
            verb: "impersonate".to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        authorization::check(shared, &user, &attributes)
    };
    match account {
        Some((namespace, name)) => check("serviceaccounts", namespace, name)?,
        None => check("users", "", &name)?,
    }
    groups.iter().try_for_each(|group| check("groups", "", group))?;
    let groups = match account {
        Some((namespace, name)) if groups.is_empty() => User::service_account(namespace, name).groups,
        _ => groups,
    };
    Ok(User { groups, ..User::new(&name) }.impersonated())
}
