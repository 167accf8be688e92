//! Authorization of requests, with `SubjectAccessReview`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube_controller_client::Client;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::authentication::REVIEW;
use super::recent::Recent;
use super::user::{MASTERS, User};
use crate::settings::AuthorizationSettings;

/// Maximum number of cached results.
const REMEMBERED: usize = 4096;
/// Maximum length of verb and path, in bytes, of a cached result. Bounds the memory that unauthenticated clients can
/// use.
const LONGEST: usize = 1024;
/// Maximum number of concurrent reviews.
const AT_ONCE: usize = 16;

/// Authorizes requests to paths that are not always allowed; results of reviews are cached.
#[derive(Debug)]
pub(super) struct Authorization {
    client: Option<Client>,
    open: Vec<String>,
    authorized: Duration,
    unauthorized: Duration,
    recent: Mutex<Recent<Question, bool>>,
    under_way: Semaphore,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
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
            open: always_allow_paths.clone(),
            authorized: *authorized_ttl,
            unauthorized: *unauthorized_ttl,
            recent: Mutex::new(Recent::new(REMEMBERED)),
            under_way: Semaphore::new(AT_ONCE),
        }
    }

    /// Returns whether `user` may use `verb` on `path`.
    ///
    /// # Errors
    ///
    /// The reason why there is no decision: the review failed or took longer than [`REVIEW`].
    pub(super) async fn allows(&self, user: &User, verb: &str, path: &str) -> Result<bool, String> {
        if is_open(&self.open, path) || user.groups.iter().any(|group| group == MASTERS) {
            return Ok(true);
        }
        let Some(client) = &self.client else { return Ok(false) };
        let question = Question { user: user.clone(), verb: verb.to_owned(), path: path.to_owned() };
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent().get(&question, Instant::now().into_std());
        if let Some(allowed) = known {
            return Ok(allowed);
        }
        let answer = timeout(REVIEW, async {
            let _one_of_few = self.under_way.acquire().await;
            client.create_virtual(&review(&question)).await
        });
        let answer = answer.await;
        let answer = answer.map_err(|_| "no answer to the SubjectAccessReview in time".to_owned())?;
        let answer = answer.map_err(|error| error.to_string())?;
        let allowed = answer.status.is_some_and(|status| status.allowed);
        if question.verb.len() + question.path.len() <= LONGEST {
            let lasts = if allowed { self.authorized } else { self.unauthorized };
            recent().put(question, allowed, Instant::now().into_std(), lasts);
        }
        Ok(allowed)
    }
}

fn review(question: &Question) -> SubjectAccessReview {
    let Question { user, verb, path } = question;
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

fn is_open(open: &[String], path: &str) -> bool {
    let path = path.trim_start_matches('/');
    open.iter().map(|open| open.trim_start_matches('/')).any(|open| match open.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => path == open,
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
    fn open_paths(#[case] path: &str, #[case] expect: bool) {
        let open = ["/healthz", "/debug/*"].map(str::to_owned);
        assert_eq!(is_open(&open, path), expect);
    }
}
