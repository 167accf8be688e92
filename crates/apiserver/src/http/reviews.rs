//! Questions that are asked by creating an object that is not kept: who am I, whose is this token, may they do that.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenReview};
use k8s_openapi::api::authorization::v1::{NonResourceAttributes, ResourceAttributes, SubjectAccessReview};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::body;
use super::path::ResourcePath;
use super::reply::{self, Reply};
use crate::attributes::Attributes;
use crate::field::FieldErrors;
use crate::identity::{AUDIENCE, Issued, User};
use crate::shared::{Shared, now};
use crate::status::StatusError;

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
/// How long a token lasts that does not say, and the least that can be asked for, in seconds.
const LIFETIME: i64 = 3_600;
const LEAST_LIFETIME: i64 = 600;

/// One of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Review {
    TokenRequest,
    Token,
    SelfSubject,
    Access,
    LocalAccess,
    SelfAccess,
}

impl Review {
    /// The question that a path asks, if it asks one.
    pub(super) fn of(path: &ResourcePath) -> Option<Self> {
        let ResourcePath { group, version, namespace, plural, name, subresource } = path;
        if version != "v1" {
            return None;
        }
        if (group.as_str(), plural.as_str(), subresource.as_deref()) == ("", "serviceaccounts", Some("token")) {
            return (namespace.is_some() && name.is_some()).then_some(Self::TokenRequest);
        }
        if name.is_some() {
            return None;
        }
        match (group.as_str(), plural.as_str(), namespace.is_some()) {
            (AUTHENTICATION, "tokenreviews", false) => Some(Self::Token),
            (AUTHENTICATION, "selfsubjectreviews", false) => Some(Self::SelfSubject),
            (AUTHORIZATION, "subjectaccessreviews", false) => Some(Self::Access),
            (AUTHORIZATION, "selfsubjectaccessreviews", false) => Some(Self::SelfAccess),
            (AUTHORIZATION, "localsubjectaccessreviews", true) => Some(Self::LocalAccess),
            _ => None,
        }
    }

    /// Answers it.
    pub(super) fn answer(
        self,
        shared: &Arc<Shared>,
        path: &ResourcePath,
        user: &User,
        (method, headers, bytes): (&Method, &HeaderMap, &Bytes),
    ) -> Result<Reply, StatusError> {
        if method != Method::POST {
            return Err(StatusError::method_not_allowed());
        }
        let body = body::review(headers, bytes)?;
        let document = match self {
            Self::TokenRequest => request_token(shared, path, decode(&body)?)?,
            Self::Token => review_token(shared, &decode(&body)?),
            Self::SelfSubject => json!({
                "kind": "SelfSubjectReview",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": {"creationTimestamp": now()},
                "status": {"userInfo": user_info(user)},
            }),
            Self::Access => review_access(shared, "SubjectAccessReview", &body, None, None)?,
            Self::SelfAccess => review_access(shared, "SelfSubjectAccessReview", &body, Some(user), None)?,
            Self::LocalAccess => {
                review_access(shared, "LocalSubjectAccessReview", &body, None, path.namespace.as_deref())?
            }
        };
        Ok(reply::json(StatusCode::CREATED, document.to_string()))
    }
}

fn decode<T: DeserializeOwned>(body: &Value) -> Result<T, StatusError> {
    serde_path_to_error::deserialize(body).map_err(|error| {
        StatusError::bad_request(format!("the review cannot be read: {}: {}", error.path(), error.inner()))
    })
}

fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name, "groups": user.groups});
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    info
}

fn request_token(shared: &Arc<Shared>, path: &ResourcePath, request: TokenRequest) -> Result<Value, StatusError> {
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let name = path.name.as_deref().unwrap_or_default();
    let uid = shared.read(|cluster| {
        let kind = cluster.kinds().find("", "v1", "serviceaccounts").ok_or_else(StatusError::no_such_path)?;
        cluster.get(kind, namespace, name).map(|account| account.uid.to_string())
    })?;
    let spec = request.spec.unwrap_or_default();
    let seconds = spec.expiration_seconds.unwrap_or(LIFETIME);
    let mut errors = FieldErrors::default();
    if seconds < LEAST_LIFETIME {
        errors.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes");
    } else if seconds > i64::from(u32::MAX) {
        errors.invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds");
    }
    if !errors.is_empty() {
        return Err(StatusError::invalid_review(AUTHENTICATION, "TokenRequest", errors));
    }
    let audiences = spec.audiences.filter(|it| !it.is_empty()).unwrap_or_else(|| vec![AUDIENCE.to_owned()]);
    let now = now();
    let expires = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    let issued =
        Issued { namespace: namespace.to_owned(), name: name.to_owned(), uid, audiences: audiences.clone(), expires };
    let token = shared.identities.tokens().issue(issued, now);
    Ok(json!({
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": whole_seconds(now)},
        "spec": {
            "audiences": audiences,
            "expirationSeconds": seconds,
            "boundObjectRef": spec.bound_object_ref,
        },
        "status": {"token": token, "expirationTimestamp": whole_seconds(expires)},
    }))
}

/// As `metav1.Time` is printed.
fn whole_seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

fn review_token(shared: &Arc<Shared>, review: &TokenReview) -> Value {
    let token = review.spec.token.as_str();
    let asked = review.spec.audiences.as_deref().unwrap_or_default();
    let holder = shared.identities.tokens().holder(token, now(), |namespace, name| shared.uid_of(namespace, name));
    // For whom is the token, of those that the asker stands for: itself when it does not say.
    let accepted = holder.map(|holder| {
        let here = [AUDIENCE.to_owned()];
        let wanted = if asked.is_empty() { &here } else { asked };
        let audiences: Vec<String> = wanted.iter().filter(|it| holder.audiences.contains(it)).cloned().collect();
        (holder.user, audiences)
    });
    let status = match accepted {
        Some((user, audiences)) if !audiences.is_empty() => {
            json!({"authenticated": true, "user": user_info(&user), "audiences": audiences})
        }
        _ => json!({"user": {}, "error": "[invalid bearer token]"}),
    };
    json!({
        "kind": "TokenReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "spec": review.spec,
        "status": status,
    })
}

/// `asker` is who asks about itself, `namespace` that of the path where there is one.
fn review_access(
    shared: &Arc<Shared>,
    kind: &'static str,
    body: &Value,
    asker: Option<&User>,
    namespace: Option<&str>,
) -> Result<Value, StatusError> {
    // The spec of the others is a part of this one's.
    let spec = decode::<SubjectAccessReview>(body)?.spec;
    let mut errors = FieldErrors::default();
    let attributes = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(resource), None) => of_resource(resource),
        (None, Some(path)) => of_path(path),
        (Some(_), Some(_)) => {
            let detail = "cannot be specified in combination with resourceAttributes";
            errors.invalid("spec.nonResourceAttributes", "", detail);
            Attributes::default()
        }
        (None, None) => {
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.invalid("spec.resourceAttributes", "", detail);
            Attributes::default()
        }
    };
    if namespace.is_some_and(|namespace| namespace != attributes.namespace) {
        let detail = "must match metadata.namespace";
        errors.invalid("spec.resourceAttributes.namespace", attributes.namespace.as_str(), detail);
    }
    let user = match asker {
        Some(asker) => asker.clone(),
        None => User {
            name: spec.user.clone().unwrap_or_default(),
            uid: spec.uid.clone().unwrap_or_default(),
            groups: spec.groups.clone().unwrap_or_default(),
        },
    };
    if user.name.is_empty() && user.groups.is_empty() {
        errors.invalid("spec.user", "", "at least one of user or group must be specified");
    }
    if !errors.is_empty() {
        return Err(StatusError::invalid_review(AUTHORIZATION, kind, errors));
    }
    let verdict = shared.rulebook.decide(shared, &user, &attributes);
    let mut status = json!({"allowed": verdict.allowed});
    if !verdict.reason.is_empty() {
        status["reason"] = json!(verdict.reason);
    }
    Ok(json!({
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": status,
    }))
}

fn of_resource(asked: &ResourceAttributes) -> Attributes {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Attributes {
        verb: text(&asked.verb),
        group: text(&asked.group),
        version: text(&asked.version),
        resource: text(&asked.resource),
        subresource: text(&asked.subresource),
        namespace: text(&asked.namespace),
        name: text(&asked.name),
        path: String::new(),
    }
}

fn of_path(asked: &NonResourceAttributes) -> Attributes {
    Attributes {
        verb: asked.verb.clone().unwrap_or_default(),
        path: asked.path.clone().unwrap_or_default(),
        ..Attributes::default()
    }
}
