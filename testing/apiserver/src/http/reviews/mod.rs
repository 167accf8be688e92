//! Virtual resources that are evaluated on create and not stored: token requests, token reviews, access reviews,
//! and bindings of Pods.

mod access;
mod binding;
mod tokens;

use std::sync::Arc;

use http::request::Parts;
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::access::AUTHORIZATION;
use self::tokens::{AUTHENTICATION, user_info};
use super::accept;
use super::path::ResourcePath;
use super::payload::{Expected, Payload};
use super::reply::{self, Reply};
use crate::attributes::full_resource;
use crate::identity::User;
use crate::protobuf;
use crate::shared::Shared;
use crate::status::StatusError;

/// A virtual resource: where it is served, and its kind. All have version `v1`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VirtualResource {
    /// API group of the path; empty for core.
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    /// Subresource of `plural`; empty for a resource of its own.
    pub(super) subresource: &'static str,
    pub(super) namespaced: bool,
    pub(super) kind_group: &'static str,
    pub(super) kind: &'static str,
    review: Review,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Review {
    TokenRequest,
    Token,
    SelfSubject,
    Access,
    SelfAccess,
    SelfRules,
    Binding,
}

/// All virtual resources, in the order of discovery.
pub(super) const VIRTUAL_RESOURCES: [VirtualResource; 7] = [
    VirtualResource {
        subresource: "binding",
        namespaced: true,
        ..virtual_resource("", "pods", "Binding", Review::Binding)
    },
    VirtualResource {
        group: "",
        subresource: "token",
        kind_group: AUTHENTICATION,
        namespaced: true,
        ..virtual_resource(AUTHENTICATION, "serviceaccounts", "TokenRequest", Review::TokenRequest)
    },
    virtual_resource(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", Review::SelfSubject),
    virtual_resource(AUTHENTICATION, "tokenreviews", "TokenReview", Review::Token),
    virtual_resource(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", Review::SelfAccess),
    virtual_resource(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", Review::SelfRules),
    virtual_resource(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", Review::Access),
];

const fn virtual_resource(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    review: Review,
) -> VirtualResource {
    VirtualResource { group, plural, subresource: "", namespaced: false, kind_group: group, kind, review }
}

/// Returns group and plural name of each virtual resource.
pub(crate) fn virtual_resources() -> impl Iterator<Item = (&'static str, &'static str)> {
    VIRTUAL_RESOURCES.iter().map(|it| (it.group, it.plural))
}

impl VirtualResource {
    pub(super) const VERBS: [&str; 1] = ["create"];

    /// Returns the virtual resource at `path`, if any.
    pub(super) fn of(path: &ResourcePath) -> Option<&'static Self> {
        let ResourcePath { group, version, namespace, plural, name, subresource } = path;
        VIRTUAL_RESOURCES.iter().find(|it| {
            version == "v1"
                && (it.group, it.plural) == (group, plural)
                && it.subresource == subresource.as_deref().unwrap_or_default()
                && it.namespaced == namespace.is_some()
                && it.subresource.is_empty() == name.is_none()
        })
    }

    /// Returns the name in discovery, such as `serviceaccounts/token`.
    pub(super) fn name(&self) -> String {
        full_resource(self.plural, self.subresource)
    }

    /// Returns the singular name, such as `tokenreview`; empty for a subresource.
    pub(super) fn singular(&self) -> &'static str {
        if self.subresource.is_empty() { self.plural.strip_suffix('s').unwrap_or(self.plural) } else { "" }
    }

    /// Evaluates the review in a request body. Fails with 405 for a method other than POST, 400 or 415 if the body
    /// cannot be decoded, otherwise those of the review.
    pub(super) fn evaluate(
        &self,
        shared: &Arc<Shared>,
        path: &ResourcePath,
        user: &User,
        parts: &Parts,
        bytes: &[u8],
    ) -> Result<Reply, StatusError> {
        let headers = &parts.headers;
        if parts.method != Method::POST {
            return Err(StatusError::method_not_allowed());
        }
        let api_version = if self.kind_group.is_empty() { "v1".to_owned() } else { format!("{}/v1", self.kind_group) };
        let expected = Expected { api_version: &api_version, kind: self.kind };
        let mut document = Payload::new(headers, bytes).object(expected)?;
        let Value::Object(review) = &mut document else {
            return Err(StatusError::bad_request("the review is not a JSON object"));
        };
        // The types of `k8s-openapi` that the reviews have in common refuse the name of another kind.
        review.retain(|field, _| field != "kind" && field != "apiVersion");
        review.entry("metadata").or_insert_with(|| json!({}));
        let mut kind = (api_version.as_str(), self.kind);
        let mut written = None;
        document["status"] = match self.review {
            Review::TokenRequest => tokens::request_token(shared, path, &mut document)?,
            Review::Token => tokens::review_token(shared, &decode(&document)?),
            Review::SelfSubject => json!({"userInfo": user_info(user)}),
            Review::Access => access::review_access(shared, decode(&document)?, None)?,
            Review::SelfAccess => access::review_access(shared, decode(&document)?, Some(user))?,
            Review::SelfRules => access::review_rules(shared, user, decode(&document)?)?,
            Review::Binding => {
                written = Some(binding::bind(shared, path, parts, document)?);
                kind = ("v1", "Status");
                document = json!({"metadata": {}, "code": 201});
                json!("Success")
            }
        };
        let (api_version, kind) = kind;
        (document["kind"], document["apiVersion"]) = (json!(kind), json!(api_version));
        let reply = if accept::prefers_protobuf(headers) {
            let document = protobuf::envelope(api_version, kind, document.as_object().unwrap_or(&Map::new()));
            reply::in_protobuf(reply::json(StatusCode::CREATED, document), false)
        } else {
            reply::json(StatusCode::CREATED, document.to_string())
        };
        Ok(match written {
            Some(written) => written.of(reply),
            None => reply,
        })
    }
}

/// Returns the API groups that consist of virtual resources only.
pub(super) fn virtual_groups() -> impl Iterator<Item = &'static str> {
    [AUTHENTICATION, AUTHORIZATION].into_iter()
}

fn decode<T: DeserializeOwned>(body: &Value) -> Result<T, StatusError> {
    T::deserialize(body).map_err(|error| StatusError::bad_request(format!("the review cannot be decoded: {error}")))
}
