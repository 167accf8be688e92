//! Authentication of requests: client certificates, and bearer tokens with `TokenReview`.

use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube_controller_client::Client;
use ring::digest::{SHA256, digest};

use crate::peer::Peer;
use crate::reviewer::{NoAnswer, Reviewer};
use crate::user::User;

type TokenDigest = [u8; 32];
/// Results by SHA-256 digest: tokens are secrets and are not kept in memory.
type TokenReviewer = Reviewer<TokenDigest, Option<User>>;

/// Result of the authentication of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    User(User),
    /// The token was rejected or could not be reviewed.
    Invalid,
    /// The token was not reviewed: too many are waiting.
    NotReviewed,
}

impl From<Option<User>> for Identity {
    fn from(user: Option<User>) -> Self {
        user.map_or(Identity::Invalid, Identity::User)
    }
}

/// Authenticates requests; results of token reviews are cached.
#[derive(Debug)]
pub(crate) struct Authentication {
    reviewer: Option<TokenReviewer>,
    ttl: Duration,
}

impl Authentication {
    /// Without a client, tokens are ignored and requests are anonymous. Results are cached for `ttl`.
    pub(crate) fn new(client: Option<Client>, ttl: Duration) -> Self {
        Self { reviewer: client.map(Reviewer::new), ttl }
    }

    /// Returns the identity of a request of `peer`. As upstream, a verified client certificate takes precedence over a
    /// token, and a request with neither is anonymous.
    pub(crate) async fn user(&self, certificate: Option<&User>, peer: Peer, headers: &HeaderMap) -> Identity {
        if let Some(user) = certificate {
            return Identity::User(user.clone());
        }
        match (bearer_token(headers), &self.reviewer) {
            (Some(token), Some(reviewer)) => self.user_of_token(reviewer, peer, token).await,
            _ => Identity::User(User::anonymous()),
        }
    }

    async fn user_of_token(&self, reviewer: &TokenReviewer, peer: Peer, token: &str) -> Identity {
        let mut key = TokenDigest::default();
        key.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        if let Some(user) = reviewer.cached(&key) {
            return user.into();
        }
        #[expect(clippy::useless_conversion, reason = "an `Option` in the types of earlier Kubernetes versions")]
        let spec = TokenReviewSpec { token: token.to_owned().into(), audiences: None };
        match reviewer.send(&key, peer, &TokenReview { spec, ..TokenReview::default() }).await {
            Ok(TokenReview { status: Some(status), .. }) => {
                let user = status.user.filter(|_| status.authenticated == Some(true)).map(User::reviewed);
                reviewer.cache(&key, user.clone(), user.is_some(), self.ttl);
                user.into()
            }
            // Failures are not cached: the next review may succeed.
            Ok(_) => Identity::Invalid,
            Err(NoAnswer::QueueIsFull) => Identity::NotReviewed,
            Err(NoAnswer::Failed(err)) => {
                tracing::warn!(err, "Unable to authenticate the request");
                Identity::Invalid
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
