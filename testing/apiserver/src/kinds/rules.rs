//! The rules for storing the objects of a kind: the sequence of their steps in creates and updates.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use super::{Kind, metadata};
use crate::field::FieldErrors;
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

/// Write that an object is prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    Create,
    /// By `Server::load`, see [`Resource::prepare_load`](super::Resource::prepare_load).
    Load,
    Update(Part),
}

/// Object that is written, with the stored one in an update. The steps are compiled once for all kinds.
pub(super) trait Draft {
    /// Returns the metadata of the object and of the stored one.
    fn metadata(&mut self) -> (&mut ObjectMeta, Option<&ObjectMeta>);

    fn apply_defaults(&mut self);

    /// Sets what the server sets, and restores what the write does not change.
    fn prepare(&mut self, write: Write);

    fn validate(&self, write: Write, errors: &mut FieldErrors) -> Result<(), StatusError>;

    /// See [`Resource::allocate`](super::Resource::allocate).
    fn allocate(&mut self, _context: &mut Context<'_>, _errors: &mut FieldErrors) {}

    fn allocations(&self) -> Vec<Allocation> {
        Vec::new()
    }

    /// Encodes the object as Go does, without kind and apiVersion.
    fn encode(&self) -> Result<Map<String, Value>, StatusError>;
}

/// Decodes the stored object, if any, and the written one.
pub(super) type Decode = for<'a> fn(&'a Kind, Option<Value>, Value) -> Result<Box<dyn Draft + 'a>, StatusError>;

impl Context<'_> {
    /// Prepares a new object. Fails with 400 if it cannot be decoded, 422 if it is invalid.
    pub(crate) fn create(self, body: Value) -> Result<Prepared, StatusError> {
        self.add(body, Write::Create)
    }

    /// Prepares an object stored by `Server::load`. Fails as [`create`](Self::create).
    pub(crate) fn load(self, body: Value) -> Result<Prepared, StatusError> {
        self.add(body, Write::Load)
    }

    fn add(self, body: Value, write: Write) -> Result<Prepared, StatusError> {
        let mut draft = (self.kind.decode)(self.kind, None, body)?;
        let (meta, _) = draft.metadata();
        metadata::prepare_create(meta, self.namespace)?;
        let generated_name = metadata::assign_identity(meta, self.now, self.rng);
        draft.apply_defaults();
        let written = self.tracks.then(|| draft.encode()).transpose()?;
        draft.prepare(write);
        let mut errors = FieldErrors::default();
        metadata::validate(draft.metadata().0, self.kind.name_rule, &mut errors);
        Ok(Prepared { generated_name, written, ..self.finish(draft, write, errors)? })
    }

    /// Prepares the new version of an object. Fails as [`create`](Self::create).
    pub(crate) fn update(self, old: Value, new: Value, part: Part) -> Result<Prepared, StatusError> {
        let mut draft = (self.kind.decode)(self.kind, Some(old), new)?;
        let mut errors = FieldErrors::default();
        if let (meta, Some(old)) = draft.metadata() {
            metadata::prepare_update(meta, old, &mut errors);
        }
        draft.apply_defaults();
        let written = self.tracks.then(|| draft.encode()).transpose()?;
        let write = Write::Update(part);
        draft.prepare(write);
        metadata::validate_after_create(draft.metadata().0, &mut errors);
        Ok(Prepared { written, ..self.finish(draft, write, errors)? })
    }

    fn finish(
        mut self,
        mut draft: Box<dyn Draft + '_>,
        write: Write,
        mut errors: FieldErrors,
    ) -> Result<Prepared, StatusError> {
        draft.validate(write, &mut errors)?;
        if errors.is_empty() {
            draft.allocate(&mut self, &mut errors);
        }
        if errors.is_empty() {
            return prepared(draft);
        }
        Err(StatusError::invalid(self.kind, draft.metadata().0.name.as_deref().unwrap_or_default(), &errors))
    }
}

impl Kind {
    /// Prepares a stored object again after the server changed its metadata. Nothing is validated.
    pub(crate) fn touch(&self, object: Value) -> Result<Prepared, StatusError> {
        let mut draft = (self.decode)(self, None, object)?;
        draft.metadata().0.resource_version = None;
        prepared(draft)
    }
}

fn prepared(mut draft: Box<dyn Draft + '_>) -> Result<Prepared, StatusError> {
    let (object, allocations) = (draft.encode()?, draft.allocations());
    let metadata = std::mem::take(draft.metadata().0);
    Ok(Prepared { object, metadata, allocations, generated_name: false, written: None })
}
