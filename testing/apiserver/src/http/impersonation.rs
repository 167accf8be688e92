//! Impersonation: requests in the name of another user, like upstream's `WithImpersonation`.

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use crate::attributes::Attributes;
use crate::authorization;
use crate::identity::User;
use crate::shared::Shared;
use crate::status::StatusError;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
/// Group of the resources `uids` and `userextras`.
const AUTHENTICATION: &str = "authentication.k8s.io";

/// What a request asks to impersonate.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    user: String,
    groups: Vec<String>,
    uid: String,
    /// Keys and values. They are authorized, and have no further effect: users of this server have none.
    extra: Vec<(String, String)>,
}

impl Asked {
    fn read(headers: &HeaderMap) -> Asked {
        let mut asked = Asked::default();
        for (name, value) in headers {
            let text = || String::from_utf8_lossy(value.as_bytes()).into_owned();
            match name.as_str() {
                USER => asked.user = text(),
                GROUP => asked.groups.push(text()),
                UID => asked.uid = text(),
                name => {
                    if let Some(key) = name.strip_prefix(EXTRA) {
                        asked.extra.push((percent_decode_str(key).decode_utf8_lossy().into_owned(), text()));
                    }
                }
            }
        }
        asked
    }

    /// Returns the attributes of the requests that the real user must be authorized to make.
    fn checks(&self) -> Vec<Attributes> {
        let check = |group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| Attributes {
            verb: "impersonate".to_owned(),
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        let user = match self.service_account() {
            Some((namespace, name)) => check("", "serviceaccounts", "", namespace, name),
            None => check("", "users", "", "", &self.user),
        };
        let groups = self.groups.iter().map(|it| check("", "groups", "", "", it));
        let extra = self.extra.iter().map(|(key, value)| check(AUTHENTICATION, "userextras", key, "", value));
        let uid = (!self.uid.is_empty()).then(|| check(AUTHENTICATION, "uids", "", "", &self.uid));
        std::iter::once(user).chain(groups).chain(extra).chain(uid).collect()
    }

    fn service_account(&self) -> Option<(&str, &str)> {
        self.user.strip_prefix("system:serviceaccount:")?.split_once(':')
    }

    fn into_user(self) -> User {
        let account = self.service_account().map(|(namespace, name)| User::service_account(namespace, name));
        let groups = match account {
            Some(account) if self.groups.is_empty() => account.groups,
            _ => self.groups,
        };
        User { name: self.user, uid: self.uid, groups }.impersonated()
    }
}

/// Returns the user in whose name a request is made: `user` without impersonation headers.
///
/// # Errors
/// 403 if `user` may not `impersonate` the user, a group, the uid or an extra value; 500 for groups, uid or extra values
/// without a user.
pub(super) fn effective_user(shared: &Shared, user: User, headers: &HeaderMap) -> Result<User, StatusError> {
    let asked = Asked::read(headers);
    if asked == Asked::default() {
        return Ok(user);
    }
    if asked.user.is_empty() {
        return Err(StatusError::internal("requested impersonation without impersonating a user"));
    }
    for attributes in asked.checks() {
        authorization::check(shared, &user, &attributes)?;
    }
    Ok(asked.into_user())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::HeaderName;
    use rstest::rstest;

    use super::*;

    fn asked(headers: &[(&'static str, &'static str)]) -> Asked {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Asked::read(&map)
    }

    #[rstest]
    #[case::user(&[("impersonate-user", "jane")], &["users//jane"])]
    #[case::groups(
        &[("impersonate-user", "jane"), ("impersonate-group", "a"), ("impersonate-group", "b")],
        &["users//jane", "groups//a", "groups//b"]
    )]
    #[case::service_account(&[("impersonate-user", "system:serviceaccount:shop:web")], &["serviceaccounts/shop/web"])]
    #[case::uid(&[("impersonate-user", "jane"), ("impersonate-uid", "7")], &["users//jane", "uids//7"])]
    #[case::extra(
        &[("impersonate-user", "jane"), ("impersonate-extra-acme.com%2fscope", "dev")],
        &["users//jane", "userextras/acme.com/scope//dev"]
    )]
    fn each_part_is_authorized(#[case] headers: &[(&'static str, &'static str)], #[case] expect: &[&str]) {
        let checks = asked(headers).checks();
        let texts: Vec<String> =
            checks.iter().map(|it| format!("{}/{}/{}", it.full_resource(), it.namespace, it.name)).collect();
        assert_eq!(texts, expect);
    }

    #[rstest]
    #[case::user(&[("impersonate-user", "jane")], &["system:authenticated"])]
    #[case::groups(&[("impersonate-user", "jane"), ("impersonate-group", "a")], &["a", "system:authenticated"])]
    #[case::anonymous(&[("impersonate-user", "system:anonymous")], &["system:unauthenticated"])]
    #[case::unauthenticated(
        &[("impersonate-user", "jane"), ("impersonate-group", "system:unauthenticated")],
        &["system:unauthenticated"]
    )]
    #[case::service_account(
        &[("impersonate-user", "system:serviceaccount:shop:web")],
        &["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]
    )]
    fn groups_are_those_of_the_user(#[case] headers: &[(&'static str, &'static str)], #[case] expect: &[&str]) {
        assert_eq!(asked(headers).into_user().groups, expect);
    }
}
