//! Bearer tokens, issued to users and to service accounts.
//!
//! Tokens are opaque random strings, valid on this server only. A token issued to a service account is invalid once the
//! account is deleted.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rand::RngExt as _;
use rand::rngs::StdRng;

use super::User;

/// Audience of the API server; the default audience of tokens.
pub(crate) const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";

/// A token issued to a service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issued {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) audiences: Vec<String>,
    pub(crate) expires: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Tokens {
    users: BTreeMap<String, User>,
    issued: BTreeMap<String, Issued>,
    rng: StdRng,
}

/// User and audiences of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) user: User,
    pub(crate) audiences: Vec<String>,
}

impl Tokens {
    pub(crate) fn new(rng: StdRng) -> Self {
        Self { users: BTreeMap::new(), issued: BTreeMap::new(), rng }
    }

    /// Issues a token for `user` that never expires.
    pub(crate) fn issue_to_user(&mut self, user: User) -> String {
        let token = self.draw();
        self.users.insert(token.clone(), user);
        token
    }

    pub(crate) fn issue(&mut self, issued: Issued) -> String {
        let token = self.draw();
        self.issued.insert(token.clone(), issued);
        token
    }

    /// Expires all issued tokens.
    pub(crate) fn expire(&mut self) {
        self.issued.values_mut().for_each(|issued| issued.expires = Timestamp::MIN);
    }

    fn draw(&mut self) -> String {
        let [high, low]: [u128; 2] = self.rng.random();
        format!("kube-dev.{high:032x}{low:032x}")
    }

    /// Returns the user of a token; `None` if the token is unknown or expired, or its service account no longer exists
    /// with the same uid.
    ///
    /// `uid_of` returns the uid of the service account with a namespace and name, if it exists.
    pub(crate) fn holder(
        &self,
        token: &str,
        now: Timestamp,
        uid_of: impl FnOnce(&str, &str) -> Option<String>,
    ) -> Option<Holder> {
        if let Some(user) = self.users.get(token) {
            return Some(Holder { user: user.clone().authenticated(), audiences: vec![AUDIENCE.to_owned()] });
        }
        let issued = self.issued.get(token).filter(|issued| issued.expires > now)?;
        uid_of(&issued.namespace, &issued.name).filter(|uid| *uid == issued.uid)?;
        let user = User { uid: issued.uid.clone(), ..User::service_account(&issued.namespace, &issued.name) };
        Some(Holder { user: user.authenticated(), audiences: issued.audiences.clone() })
    }
}
