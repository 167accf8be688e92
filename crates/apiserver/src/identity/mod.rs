//! Who asks: users, their tokens, and how a request is told from whom it is.

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

/// The tokens of a server and its policy towards those that have none.
#[derive(Debug)]
pub(crate) struct Identities {
    tokens: Mutex<Tokens>,
    anonymous: Anonymous,
    /// By which the owner of the server does everything.
    pub(crate) admin_token: String,
}

impl Identities {
    pub(crate) fn new(config: &Config, rng: StdRng) -> Self {
        let configured = config.tokens.iter().map(|token| (token.token.clone(), token.user.clone()));
        let mut tokens = Tokens::new(configured, rng);
        let admin_token = tokens.issue_to_user(User::admin());
        Self { tokens: Mutex::new(tokens), anonymous: config.anonymous, admin_token }
    }

    pub(crate) fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who a request is of: of the certificate of its connection, else of its token, else of nobody in particular.
    ///
    /// # Errors
    /// 401 for a token that is none, and for nobody where nobody is not served.
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
                let here = holder.filter(|holder| holder.audiences.iter().any(|audience| audience == AUDIENCE));
                here.map(|holder| holder.user).ok_or_else(StatusError::unauthorized)
            }
            (None, None) if self.anonymous == Anonymous::Allowed => Ok(User::anonymous()),
            (None, None) => Err(StatusError::unauthorized()),
        }
    }
}
