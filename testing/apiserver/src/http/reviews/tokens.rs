//! `TokenRequest` and `TokenReview`.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec, TokenReview};
use serde_json::{Value, json};

use super::decode;
use crate::http::path::ResourcePath;
use crate::identity::{AUDIENCE, Issued, User};
use crate::optional::optional;
use crate::shared::Shared;
use crate::status::StatusError;

pub(super) const AUTHENTICATION: &str = "authentication.k8s.io";

/// Default lifetime of a token in seconds.
const LIFETIME: i64 = 3_600;

/// Issues a token for the service account in `path`. Completes the request, and returns its status. Fails with 404 if
/// the service account does not exist, 400 if the request cannot be decoded.
pub(super) fn request_token(shared: &Shared, path: &ResourcePath, document: &mut Value) -> Result<Value, StatusError> {
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let name = path.name.as_deref().unwrap_or_default();
    let uid = shared.read(|cluster| {
        let kind = cluster.kinds().find("", "v1", "serviceaccounts").ok_or_else(StatusError::no_such_path)?;
        cluster.get(kind, namespace, name).map(|account| account.uid.to_string())
    })?;
    let request: TokenRequest = decode(document)?;
    let spec: TokenRequestSpec = optional(request.spec).unwrap_or_default();
    let seconds = spec.expiration_seconds.unwrap_or(LIFETIME);
    let audiences =
        optional::<Vec<_>>(spec.audiences).filter(|it| !it.is_empty()).unwrap_or_else(|| vec![AUDIENCE.to_owned()]);
    let now = shared.now();
    let expires = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    let issued =
        Issued { namespace: namespace.to_owned(), name: name.to_owned(), uid, audiences: audiences.clone(), expires };
    let token = shared.identities.tokens().issue(issued);
    document["metadata"] = json!({"name": name, "namespace": namespace, "creationTimestamp": whole_seconds(now)});
    document["spec"]["audiences"] = json!(audiences);
    document["spec"]["expirationSeconds"] = json!(seconds);
    Ok(json!({"token": token, "expirationTimestamp": whole_seconds(expires)}))
}

/// Formats a time without fractional seconds, as `metav1.Time`.
fn whole_seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// Returns the status of a `TokenReview`: the user of a token and the requested audiences that it is valid for.
pub(super) fn review_token(shared: &Shared, review: &TokenReview) -> Value {
    let token = optional(&review.spec.token).map_or("", String::as_str);
    let requested = review.spec.audiences.as_deref().unwrap_or_default();
    let holder =
        shared.identities.tokens().holder(token, shared.now(), |namespace, name| shared.uid_of(namespace, name));
    // Without audiences in the spec, the token must be valid for the API server itself.
    let accepted = holder.map(|holder| {
        let default_audiences = [AUDIENCE.to_owned()];
        let expected = if requested.is_empty() { &default_audiences } else { requested };
        let audiences: Vec<String> = expected.iter().filter(|it| holder.audiences.contains(it)).cloned().collect();
        (holder.user, audiences)
    });
    match accepted {
        Some((user, audiences)) if !audiences.is_empty() => {
            json!({"authenticated": true, "user": user_info(&user), "audiences": audiences})
        }
        _ => json!({"user": {}, "error": "[invalid bearer token]"}),
    }
}

pub(super) fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name, "groups": user.groups});
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    info
}
