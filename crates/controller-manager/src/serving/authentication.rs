//! Authentication of requests: client certificates, and bearer tokens with `TokenReview`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube_controller_client::Client;
use ring::digest::{SHA256, digest};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::ttl_cache::TtlCache;
use super::user::User;

/// Time limit of one review, including the wait while [`MAX_CONCURRENT`] others are running.
pub(super) const REVIEW_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reviews, so that a client with invalid tokens cannot overload the API server through
/// this process.
const MAX_CONCURRENT: usize = 16;
/// Maximum number of cached results.
const CACHE_SIZE: usize = 4096;

type TokenDigest = [u8; 32];

/// Authenticates requests; results of token reviews are cached.
#[derive(Debug)]
pub(super) struct Authentication {
    client: Option<Client>,
    ttl: Duration,
    /// Results by SHA-256 digest: tokens are secrets and are not kept in memory.
    cache: Mutex<TtlCache<TokenDigest, Option<User>>>,
    permits: Semaphore,
}

impl Authentication {
    /// Returns an authenticator that caches results for `ttl`. Without a client, tokens are ignored and requests are
    /// anonymous.
    pub(super) fn new(client: Option<Client>, ttl: Duration) -> Self {
        let cache = Mutex::new(TtlCache::new(CACHE_SIZE));
        Self { client, ttl, cache, permits: Semaphore::new(MAX_CONCURRENT) }
    }

    /// Returns the user of a request, or `None` if its token was rejected or could not be reviewed. As upstream, a
    /// verified client certificate takes precedence over a token, and a request with neither is anonymous.
    pub(super) async fn user(&self, certificate: Option<&User>, headers: &HeaderMap) -> Option<User> {
        if let Some(user) = certificate {
            return Some(user.clone());
        }
        match (bearer_token(headers), &self.client) {
            (Some(token), Some(client)) => self.user_of_token(client, token).await,
            _ => Some(User::anonymous()),
        }
    }

    async fn user_of_token(&self, client: &Client, token: &str) -> Option<User> {
        let mut key = TokenDigest::default();
        key.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = cache().get(&key, Instant::now().into_std());
        if let Some(user) = cached {
            return user;
        }
        let spec = TokenReviewSpec { token: token.to_owned(), audiences: None };
        let review = TokenReview { spec, ..TokenReview::default() };
        let response = timeout(REVIEW_TIMEOUT, async {
            let _permit = self.permits.acquire().await;
            client.create_virtual(&review).await
        });
        match response.await {
            Ok(Ok(TokenReview { status: Some(status), .. })) => {
                let user = status.user.filter(|_| status.authenticated == Some(true)).map(User::reviewed);
                cache().put(key, user.clone(), Instant::now().into_std(), self.ttl);
                user
            }
            // Failures are not cached: the next review may succeed.
            Ok(Ok(_)) => None,
            Ok(Err(error)) => {
                tracing::warn!(err = %error, "Unable to authenticate the request");
                None
            }
            Err(_) => {
                tracing::warn!("Unable to authenticate the request: no answer to the TokenReview in time");
                None
            }
        }
    }
}

/// Returns the bearer token of a request. As upstream, the scheme is case-insensitive and an empty token is ignored.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, None)]
    #[case(Some("Bearer abc"), Some("abc"))]
    #[case(Some("bearer  abc "), Some("abc"))]
    #[case(Some("Bearer "), None)]
    #[case(Some("Basic abc"), None)]
    fn bearer_tokens_are_parsed(#[case] header: Option<&'static str>, #[case] expect: Option<&str>) {
        let headers = header.map(|header| (AUTHORIZATION, HeaderValue::from_static(header)));
        assert_eq!(bearer_token(&HeaderMap::from_iter(headers)), expect);
    }
}
