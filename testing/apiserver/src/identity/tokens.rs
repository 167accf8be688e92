//! Bearer tokens: configured ones and issued ones.
//!
//! Tokens are opaque random strings, valid on this server only. A token issued to a service account is invalid once the
//! account is deleted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use rand::Rng;
use rand::rngs::StdRng;

use super::User;

/// Audience of the API server; the default audience of tokens.
pub(crate) const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
/// Number of tokens issued between two removals of expired ones.
const SWEEP: usize = 1_000;

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
    issued_since_sweep: usize,
}

/// User and audiences of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) user: User,
    pub(crate) audiences: Vec<String>,
}

impl Tokens {
    pub(crate) fn new(configured: impl IntoIterator<Item = (String, User)>, rng: StdRng) -> Self {
        Self { users: configured.into_iter().collect(), issued: BTreeMap::new(), rng, issued_since_sweep: 0 }
    }

    /// Issues a token for `user` that never expires.
    pub(crate) fn issue_to_user(&mut self, user: User) -> String {
        let token = self.draw();
        self.users.insert(token.clone(), user);
        token
    }

    pub(crate) fn issue(&mut self, issued: Issued, now: Timestamp) -> String {
        self.issued_since_sweep += 1;
        if self.issued_since_sweep > SWEEP {
            self.issued_since_sweep = 0;
            self.issued.retain(|_, issued| issued.expires > now);
        }
        let token = self.draw();
        self.issued.insert(token.clone(), issued);
        token
    }

    /// Expires all issued tokens.
    pub(crate) fn expire(&mut self) {
        self.issued.values_mut().for_each(|issued| issued.expires = Timestamp::MIN);
    }

    fn draw(&mut self) -> String {
        let mut bytes = [0; 32];
        self.rng.fill_bytes(&mut bytes);
        let mut token = "kube-dev.".to_owned();
        for byte in bytes {
            // Writing to a `String` cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        token
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_000, 0);

    fn tokens() -> Tokens {
        let static_token = ("secret".to_owned(), User::new("alice").group("ops"));
        Tokens::new([static_token], StdRng::seed_from_u64(1))
    }

    fn issued(expires: i64) -> Issued {
        Issued {
            namespace: "a".to_owned(),
            name: "sa".to_owned(),
            uid: "u1".to_owned(),
            audiences: vec!["x".to_owned()],
            expires: Timestamp::constant(expires, 0),
        }
    }

    #[test]
    fn configured_token_authenticates_its_user() {
        let holder = tokens().holder("secret", NOW, |_, _| None).unwrap();
        assert_eq!(holder.user, User::new("alice").group("ops").group("system:authenticated"));
        assert_eq!(tokens().holder("other", NOW, |_, _| None), None);
    }

    #[rstest]
    #[case::valid(2_000, Some("u1"), true)]
    #[case::expired(1_000, Some("u1"), false)]
    #[case::account_deleted(2_000, None, false)]
    #[case::account_recreated(2_000, Some("u2"), false)]
    fn issued_token_is_valid_until_expiry_or_deletion_of_its_account(
        #[case] expires: i64,
        #[case] uid: Option<&str>,
        #[case] valid: bool,
    ) {
        let mut tokens = tokens();
        let token = tokens.issue(issued(expires), NOW);
        let holder = tokens.holder(&token, NOW, |namespace, name| {
            assert_eq!((namespace, name), ("a", "sa"));
            uid.map(str::to_owned)
        });
        assert_eq!(holder.is_some(), valid);
        if let Some(Holder { user, audiences }) = holder {
            let groups = ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"];
            assert_eq!((user.name.as_str(), user.uid.as_str()), ("system:serviceaccount:a:sa", "u1"));
            assert_eq!((user.groups, audiences), (groups.map(str::to_owned).to_vec(), vec!["x".to_owned()]));
        }
    }

    #[test]
    fn expire_invalidates_issued_tokens_only() {
        let mut tokens = tokens();
        let old = tokens.issue(issued(2_000), NOW);
        tokens.expire();
        let new = tokens.issue(issued(2_000), NOW);
        let is_valid = |token: &str| tokens.holder(token, NOW, |_, _| Some("u1".to_owned())).is_some();
        assert!(!is_valid(&old) && is_valid(&new) && is_valid("secret"));
    }

    #[test]
    fn tokens_are_unique_and_expired_ones_are_removed() {
        let mut tokens = tokens();
        let first = tokens.issue(issued(1_001), NOW);
        assert_ne!(first, tokens.issue(issued(1_001), NOW));
        for _ in 0..SWEEP {
            tokens.issue(issued(5_000), Timestamp::constant(3_000, 0));
        }
        assert!(!tokens.issued.contains_key(&first) && tokens.issued.len() >= SWEEP);
    }
}
