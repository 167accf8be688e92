//! The token with which a list goes on where a page of it ended.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::cluster::Key;
use crate::status::StatusError;

const VERSION: &str = "meta.k8s.io/v1";

/// Where a list goes on, and at which version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Continuation {
    /// Absent when the client has agreed to go on with what is there now.
    pub(super) revision: Option<u64>,
    /// The last object of the page before.
    pub(super) after: Key,
}

/// The form inside of the token, which is that of a real server.
#[derive(Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

impl Continuation {
    pub(super) fn encode(&self) -> String {
        let (namespace, name) = &self.after;
        let token = Token {
            v: VERSION.to_owned(),
            rv: self.revision.and_then(|revision| i64::try_from(revision).ok()).unwrap_or(-1),
            // The smallest key behind the last object.
            start: format!("{namespace}/{name}\0"),
        };
        // Two texts and a number: there is nothing in it that could fail to encode.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    pub(super) fn decode(text: &str) -> Result<Self, StatusError> {
        let invalid = |why: &str| StatusError::bad_request(format!("continue key is not valid: {why}"));
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| invalid(&error.to_string()))?;
        let token: Token = serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        if token.v != VERSION {
            return Err(invalid("server does not recognize this encoded version"));
        }
        if token.rv == 0 {
            return Err(invalid("incorrect encoded start resourceVersion"));
        }
        let key = token.start.trim_start_matches('/').trim_end_matches('\0');
        // Objects without a namespace have an empty one in front of the slash that was trimmed.
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        Ok(Self { revision: u64::try_from(token.rv).ok(), after: (namespace.into(), name.into()) })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Some(7), "default", "web")]
    #[case(None, "", "node")]
    fn round_trips(#[case] revision: Option<u64>, #[case] namespace: &str, #[case] name: &str) {
        let continuation = Continuation { revision, after: (namespace.into(), name.into()) };
        assert_eq!(Continuation::decode(&continuation.encode()).unwrap(), continuation);
    }

    #[test]
    fn reads_what_a_real_server_wrote() {
        let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzQ4Mywic3RhcnQiOiIvdDkyOGI5LXNwcmVhZC0yMC93ZWItNVx1MDAwMCJ9";
        let expect = Continuation { revision: Some(3483), after: ("t928b9-spread-20".into(), "web-5".into()) };
        assert_eq!(Continuation::decode(token).unwrap(), expect);
    }

    #[rstest]
    #[case("!")]
    #[case("e30")]
    #[case("eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6Ii9hIn0")]
    fn refuses(#[case] token: &str) {
        assert_eq!(Continuation::decode(token).unwrap_err().code, 400);
    }
}
