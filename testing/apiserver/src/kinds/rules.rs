//! The rules for storing the objects of a kind, in object-safe form.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::schemars::SchemaGenerator;
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use super::Kind;
use crate::service_addresses::{Allocation, ServiceAddresses};
use crate::status::StatusError;

/// Inputs of a write besides the object.
pub(crate) struct Context<'a> {
    pub(crate) kind: &'a Kind,
    /// Namespace in the path of the request.
    pub(crate) namespace: Option<&'a str>,
    pub(crate) now: Timestamp,
    pub(crate) rng: &'a mut StdRng,
    pub(crate) addresses: &'a ServiceAddresses,
    /// Whether [`Prepared::written`] is needed.
    pub(crate) tracks: bool,
}

/// An object that has passed its rules and can be stored.
pub(crate) struct Prepared {
    /// Object without `kind`, `apiVersion` and `metadata.resourceVersion`.
    pub(crate) object: Map<String, Value>,
    pub(crate) metadata: ObjectMeta,
    pub(crate) allocations: Vec<Allocation>,
    pub(crate) generated_name: bool,
    /// The object with defaults, before the server assigned or restored fields: what the client owns, as upstream.
    pub(crate) written: Option<Map<String, Value>>,
}

/// Part of an object that an update changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Main,
    Status,
    /// The number of replicas.
    Scale,
}

impl Part {
    /// Returns the subresource of the path; empty for the object itself.
    pub(crate) fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Scale => "scale",
        }
    }
}

/// Object-safe form of [`Resource`](super::Resource), implemented by [`Typed`](super::Typed) and by the rules of custom kinds.
pub(crate) trait Rules: Send + Sync {
    /// Prepares a new object. Fails with 400 if it cannot be decoded, 422 if it is invalid.
    fn create(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// Prepares an object stored by `Server::load`, see [`Resource::prepare_load`](super::Resource::prepare_load).
    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// Prepares the new version of an object. Fails with 400 if it cannot be decoded, 422 if it is invalid.
    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// Prepares a stored object again after the server changed its metadata. Nothing is validated.
    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError>;

    /// Adds the schema of the type and those that it refers to. A custom kind has a schema of its own.
    fn add_schema(&self, _generator: &mut SchemaGenerator) {}
}
