//! Authorization of requests, with `SubjectAccessReview`.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube_controller_client::Client;

use crate::peer::Peer;
use crate::reviewer::{NoAnswer, Reviewer};
use crate::settings::AuthorizationSettings;
use crate::user::{MASTERS, User};

/// Maximum length of verb and path of a cached result, in bytes, to bound the memory.
const MAX_KEY_LENGTH: usize = 1024;

/// Result of the authorization of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allowed,
    Denied,
    /// There is no decision: too many reviews are waiting.
    NotReviewed,
    /// There is no decision, for this reason: the review failed or took longer than 10 s.
    Failed(String),
}

impl From<bool> for Decision {
    fn from(allowed: bool) -> Self {
        if allowed { Decision::Allowed } else { Decision::Denied }
    }
}

/// Authorizes requests to paths that are not always allowed; results of reviews are cached.
#[derive(Debug)]
pub(crate) struct Authorization {
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
    pub(crate) fn new(client: Option<Client>, settings: &AuthorizationSettings) -> Self {
        let AuthorizationSettings { kubeconfig: _, always_allow_paths, authorized_ttl, unauthorized_ttl } = settings;
        Self {
            reviewer: client.map(Reviewer::new),
            always_allowed: always_allow_paths.clone(),
            authorized_ttl: *authorized_ttl,
            unauthorized_ttl: *unauthorized_ttl,
        }
    }

    pub(crate) async fn decide(&self, user: &User, peer: Peer, verb: &str, path: &str) -> Decision {
        if is_always_allowed(&self.always_allowed, path) || user.groups.iter().any(|group| group == MASTERS) {
            return Decision::Allowed;
        }
        let Some(reviewer) = &self.reviewer else { return Decision::Denied };
        let key = CacheKey { user: user.clone(), verb: verb.to_owned(), path: path.to_owned() };
        if let Some(allowed) = reviewer.cached(&key) {
            return allowed.into();
        }
        let allowed = match reviewer.send(&key, peer, &review(&key)).await {
            Ok(review) => review.status.is_some_and(|status| status.allowed),
            Err(NoAnswer::QueueIsFull) => return Decision::NotReviewed,
            Err(NoAnswer::Failed(reason)) => return Decision::Failed(reason),
        };
        if key.verb.len() + key.path.len() <= MAX_KEY_LENGTH {
            let ttl = if allowed { self.authorized_ttl } else { self.unauthorized_ttl };
            reviewer.cache(&key, allowed, allowed, ttl);
        }
        allowed.into()
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
