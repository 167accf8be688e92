//! Continue tokens of paginated lists.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::cluster::Key;
use crate::status::StatusError;

const VERSION: &str = "meta.k8s.io/v1";

/// Position in a paginated list: the last object returned and the revision of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Continuation {
    /// `None` for an inconsistent continuation: the rest of the list is read at the current revision.
    pub(super) revision: Option<u64>,
    /// Key of the last object of the previous page.
    pub(super) after: Key,
}

/// JSON inside the base64 of a token; the same as upstream's `continueToken`.
#[derive(Serialize, Deserialize)]
struct TokenContent {
    v: String,
    rv: i64,
    start: String,
}

impl Continuation {
    pub(super) fn encode(&self) -> String {
        let (namespace, name) = &self.after;
        let token = TokenContent {
            v: VERSION.to_owned(),
            rv: self.revision.and_then(|revision| i64::try_from(revision).ok()).unwrap_or(-1),
            // The smallest key after that of the last object.
            start: format!("{namespace}/{name}\0"),
        };
        // Strings and a number: encoding cannot fail.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    pub(super) fn decode(text: &str) -> Result<Self, StatusError> {
        let invalid = |why: &str| StatusError::bad_request(format!("continue key is not valid: {why}"));
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| invalid(&error.to_string()))?;
        let token: TokenContent = serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
        if token.v != VERSION {
            return Err(invalid("server does not recognize this encoded version"));
        }
        if token.rv == 0 {
            return Err(invalid("incorrect encoded start resourceVersion"));
        }
        let key = token.start.trim_start_matches('/').trim_end_matches('\0');
        // Cluster-scoped objects have an empty namespace before the slash that was trimmed.
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        Ok(Self { revision: u64::try_from(token.rv).ok(), after: (namespace.into(), name.into()) })
    }
}
