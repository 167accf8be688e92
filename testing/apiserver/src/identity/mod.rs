//! Users, their tokens, and the authentication of requests.

mod tokens;
mod user;

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rand::rngs::StdRng;

use crate::config::{Anonymous, Config};
use crate::status::StatusError;
pub(crate) use tokens::{AUDIENCE, Issued, Tokens};
pub(crate) use user::MASTERS;
pub use user::User;

/// Tokens of a server, and its policy for anonymous requests.
#[derive(Debug)]
pub(crate) struct Identities {
    tokens: Mutex<Tokens>,
    anonymous: Anonymous,
    /// Bearer token of the `kubernetes-admin` user in group `system:masters`.
    pub(crate) admin_token: String,
}

impl Identities {
    pub(crate) fn new(config: &Config, rng: StdRng) -> Self {
        let mut tokens = Tokens::new(rng);
        let admin_token = tokens.issue_to_user(User::admin());
        Self { tokens: Mutex::new(tokens), anonymous: config.anonymous, admin_token }
    }

    pub(crate) fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the user of a request: that of the client certificate, else that of the bearer token, else
    /// `system:anonymous`. Fails with 401 for an invalid token, and for a request without credentials if anonymous
    /// requests are refused.
    pub(crate) fn authenticate(
        &self,
        certificate: Option<&User>,
        bearer: Option<&str>,
        now: Timestamp,
        uid_of: impl FnOnce(&str, &str) -> Option<String>,
    ) -> Result<User, StatusError> {
        match (certificate, bearer) {
            (Some(user), _) => Ok(user.clone().authenticated()),
            (None, Some(token)) => {
                let holder = self.tokens().holder(token, now, uid_of);
                let for_this_server =
                    holder.filter(|holder| holder.audiences.iter().any(|audience| audience == AUDIENCE));
                for_this_server.map(|holder| holder.user).ok_or_else(StatusError::unauthorized)
            }
            (None, None) if self.anonymous == Anonymous::Allowed => Ok(User::anonymous()),
            (None, None) => Err(StatusError::unauthorized()),
        }
    }
}
