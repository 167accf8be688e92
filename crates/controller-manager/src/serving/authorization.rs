//! Authorization of requests, with `SubjectAccessReview`.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube_controller_client::Client;

use super::reviewer::Reviewer;
use super::user::{MASTERS, User};
use crate::settings::AuthorizationSettings;

/// Maximum length of verb and path, in bytes, of a cached result. Bounds the memory that unauthenticated clients can
/// use.
const MAX_KEY_LENGTH: usize = 1024;

/// Authorizes requests to paths that are not always allowed; results of reviews are cached.
#[derive(Debug)]
pub(super) struct Authorization {
    reviewer: Option<Reviewer<CacheKey, bool>>,
    always_allowed: Vec<String>,
    authorized_ttl: Duration,
    unauthorized_ttl: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CacheKey {
    user: User,
    verb: String,
    path: String,
}

impl Authorization {
    /// Returns an authorizer. Without a client, only always allowed paths and members of [`MASTERS`] are authorized.
    pub(super) fn new(client: Option<Client>, settings: &AuthorizationSettings) -> Self {
        let AuthorizationSettings { kubeconfig: _, always_allow_paths, authorized_ttl, unauthorized_ttl } = settings;
        Self {
            reviewer: client.map(Reviewer::new),
            always_allowed: always_allow_paths.clone(),
            authorized_ttl: *authorized_ttl,
            unauthorized_ttl: *unauthorized_ttl,
        }
    }

    /// Returns whether `user` may use `verb` on `path`.
    ///
    /// # Errors
    ///
    /// The reason why there is no decision: the review failed or took longer than 10 s.
    pub(super) async fn allows(&self, user: &User, verb: &str, path: &str) -> Result<bool, String> {
        if is_always_allowed(&self.always_allowed, path) || user.groups.iter().any(|group| group == MASTERS) {
            return Ok(true);
        }
        let Some(reviewer) = &self.reviewer else { return Ok(false) };
        let key = CacheKey { user: user.clone(), verb: verb.to_owned(), path: path.to_owned() };
        if let Some(allowed) = reviewer.cached(&key) {
            return Ok(allowed);
        }
        let allowed = reviewer.send(&review(&key)).await?.status.is_some_and(|status| status.allowed);
        if key.verb.len() + key.path.len() <= MAX_KEY_LENGTH {
            let ttl = if allowed { self.authorized_ttl } else { self.unauthorized_ttl };
            reviewer.cache(key, allowed, ttl);
        }
        Ok(allowed)
    }
}

fn review(key: &CacheKey) -> SubjectAccessReview {
    let CacheKey { user, verb, path } = key;
    let User { name, uid, groups, extra } = user.clone();
    let attributes = NonResourceAttributes { path: Some(path.clone()), verb: Some(verb.clone()) };
    let spec = SubjectAccessReviewSpec {
        user: Some(name),
        uid: Some(uid).filter(|uid| !uid.is_empty()),
        groups: Some(groups),
        extra: Some(extra).filter(|extra| !extra.is_empty()),
        non_resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    };
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}

fn is_always_allowed(patterns: &[String], path: &str) -> bool {
    let path = path.trim_start_matches('/');
    patterns.iter().map(|pattern| pattern.trim_start_matches('/')).any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/healthz", true)]
    #[case("/healthz/ping", false)]
    #[case("/debug/pprof", true)]
    #[case("/debug", false)]
    #[case("/metrics", false)]
    fn always_allowed_paths_match_exactly_or_by_prefix(#[case] path: &str, #[case] expect: bool) {
        let patterns = ["/healthz", "/debug/*"].map(str::to_owned);
        assert_eq!(is_always_allowed(&patterns, path), expect);
    }
}
