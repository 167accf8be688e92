//! Whose request it is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube_controller_client::Client;
use ring::digest::{SHA256, digest};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::recent::Recent;
use super::user::User;

/// How long the API server may take to review.
pub(super) const REVIEW: Duration = Duration::from_secs(10);
/// How many reviews may be under way: whoever sends garbage must not keep the API server busy through us.
const AT_ONCE: usize = 16;
const REMEMBERED: usize = 4096;

type TokenDigest = [u8; 32];

/// Finds out who asks, with `TokenReview` for tokens.
#[derive(Debug)]
pub(super) struct Authentication {
    client: Option<Client>,
    lasts: Duration,
    /// By digest: a token is a secret, and is not kept.
    recent: Mutex<Recent<TokenDigest, Option<User>>>,
    under_way: Semaphore,
}

impl Authentication {
    /// Without a client, every token is as good as none.
    pub(super) fn new(client: Option<Client>, lasts: Duration) -> Self {
        let recent = Mutex::new(Recent::new(REMEMBERED));
        Self { client, lasts, recent, under_way: Semaphore::new(AT_ONCE) }
    }

    /// The user of a request; nobody, when it claims to be somebody's and cannot show it. A verified client certificate
    /// comes first, as upstream.
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
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent().get(&key, Instant::now().into_std());
        if let Some(user) = known {
            return user;
        }
        let spec = TokenReviewSpec { token: token.to_owned(), audiences: None };
        let review = TokenReview { spec, ..TokenReview::default() };
        let answer = timeout(REVIEW, async {
            let _one_of_few = self.under_way.acquire().await;
            client.ask(&review).await
        });
        match answer.await {
            Ok(Ok(TokenReview { status: Some(status), .. })) => {
                let user = status.user.filter(|_| status.authenticated == Some(true)).map(User::reviewed);
                recent().put(key, user.clone(), Instant::now().into_std(), self.lasts);
                user
            }
            // Not remembered: the next request may find the API server well.
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

/// As upstream: the scheme in any case, and an empty token is no token.
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
    fn tokens(#[case] header: Option<&'static str>, #[case] expect: Option<&str>) {
        let headers = header.map(|header| (AUTHORIZATION, HeaderValue::from_static(header)));
        assert_eq!(bearer_token(&HeaderMap::from_iter(headers)), expect);
    }
}
