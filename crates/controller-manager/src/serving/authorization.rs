//! Authorization of requests, with `SubjectAccessReview`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube_controller_client::Client;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::authentication::REVIEW_TIMEOUT;
use super::ttl_cache::TtlCache;
use super::user::{MASTERS, User};
use crate::settings::AuthorizationSettings;

/// Maximum number of cached results.
const CACHE_SIZE: usize = 4096;
/// Maximum length of verb and path, in bytes, of a cached result. Bounds the memory that unauthenticated clients can
/// use.
const MAX_KEY_LENGTH: usize = 1024;
/// Maximum number of concurrent reviews.
const MAX_CONCURRENT: usize = 16;

/// Authorizes requests to paths that are not always allowed; results of reviews are cached.
#[derive(Debug)]
pub(super) struct Authorization {
    client: Option<Client>,
    always_allowed: Vec<String>,
    authorized_ttl: Duration,
    unauthorized_ttl: Duration,
    cache: Mutex<TtlCache<CacheKey, bool>>,
    permits: Semaphore,
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
            client,
            always_allowed: always_allow_paths.clone(),
            authorized_ttl: *authorized_ttl,
            unauthorized_ttl: *unauthorized_ttl,
            cache: Mutex::new(TtlCache::new(CACHE_SIZE)),
            permits: Semaphore::new(MAX_CONCURRENT),
        }
    }

    /// Returns whether `user` may use `verb` on `path`.
    ///
    /// # Errors
    ///
    /// The reason why there is no decision: the review failed or took longer than [`REVIEW_TIMEOUT`].
    pub(super) async fn allows(&self, user: &User, verb: &str, path: &str) -> Result<bool, String> {
        if is_always_allowed(&self.always_allowed, path) || user.groups.iter().any(|group| group == MASTERS) {
            return Ok(true);
        }
        let Some(client) = &self.client else { return Ok(false) };
        let key = CacheKey { user: user.clone(), verb: verb.to_owned(), path: path.to_owned() };
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = cache().get(&key, Instant::now().into_std());
        if let Some(allowed) = cached {
            return Ok(allowed);
        }
        let response = timeout(REVIEW_TIMEOUT, async {
            let _permit = self.permits.acquire().await;
            client.create_virtual(&review(&key)).await
        });
        let response = response.await;
        let response = response.map_err(|_| "no answer to the SubjectAccessReview in time".to_owned())?;
        let response = response.map_err(|error| error.to_string())?;
        let allowed = response.status.is_some_and(|status| status.allowed);
        if key.verb.len() + key.path.len() <= MAX_KEY_LENGTH {
            let ttl = if allowed { self.authorized_ttl } else { self.unauthorized_ttl };
            cache().put(key, allowed, Instant::now().into_std(), ttl);
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
