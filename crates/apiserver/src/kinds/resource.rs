//! What every kind says about its objects, and the one road on which an object is made ready to be stored.

use std::marker::PhantomData;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rand::rngs::StdRng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Kind, metadata, shape, times};
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::service_addresses::{Held, ServiceAddresses};
use crate::status::StatusError;

/// The rules of one kind, written on its type. Each hook is what upstream's strategy of that kind does at this place;
/// the order in which they are called is in [`Typed`].
pub(crate) trait Resource: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The grammar of the names.
    const NAME_RULE: NameRule = NameRule::Subdomain;
    /// The fields, besides name and namespace, that a field selector may ask for.
    const SELECTABLE: &'static [&'static str] = &[];

    fn metadata(&self) -> &ObjectMeta;
    fn metadata_mut(&mut self) -> &mut ObjectMeta;

    /// Fills in what the versioned type defaults to, whoever writes.
    fn apply_defaults(&mut self) {}

    /// Takes out what a client may not set on create and sets what the server sets.
    fn prepare_create(&mut self) {}

    /// The same for an object that is to be as if it had been there before, whose status counts.
    fn prepare_load(&mut self) {
        self.prepare_create();
    }

    /// Carries over from the stored object what an update of the main resource may not change.
    fn prepare_update(&mut self, _old: &Self) {}

    /// Carries over from the stored object all but the status.
    fn prepare_status_update(&mut self, _old: &Self) {}

    fn validate(&self, _errors: &mut FieldErrors) {}

    fn validate_update(&self, _old: &Self, _errors: &mut FieldErrors) {}

    /// Picks what must be unique in the cluster. Nothing is recorded yet, see [`ServiceAddresses::replace`].
    fn allocate(&mut self, _old: Option<&Self>, _context: &mut Context<'_>, _errors: &mut FieldErrors) {}

    /// What the stored object has to itself.
    fn held(&self) -> Vec<Held> {
        Vec::new()
    }

    /// The values of the [`SELECTABLE`](Self::SELECTABLE) fields that are not empty.
    fn fields(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The seconds until a deleted object goes away; `None` for kinds that know no graceful deletion.
    fn grace(&self, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Makes the JSON what a Go server would print where the Rust type differs.
    fn shape(_object: &mut Map<String, Value>) {}
}

/// What a write may look at besides the object.
pub(crate) struct Context<'a> {
    pub(crate) kind: &'a Kind,
    /// The namespace of the request's path.
    pub(crate) namespace: Option<&'a str>,
    pub(crate) now: Timestamp,
    pub(crate) rng: &'a mut StdRng,
    pub(crate) addresses: &'a ServiceAddresses,
}

/// An object that may be stored.
pub(crate) struct Prepared {
    /// The object without `kind`, `apiVersion` and `metadata.resourceVersion`.
    pub(crate) object: Map<String, Value>,
    pub(crate) metadata: ObjectMeta,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) held: Vec<Held>,
    /// The name was made up by the server.
    pub(crate) generated_name: bool,
}

/// Which part of an object an update is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Main,
    Status,
}

/// [`Resource`] with its type forgotten, so that kinds fit into one table.
pub(crate) trait Rules: Send + Sync {
    /// Makes a new object ready.
    fn create(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// The same for an object that is to be as if it had been there before, see [`Resource::prepare_load`].
    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// Makes the successor of a stored object ready.
    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError>;

    /// Makes a stored object ready again after the server itself changed its metadata.
    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError>;

    /// See [`Resource::grace`].
    fn grace(&self, object: &Value, kind: &Kind, requested: Option<i64>) -> Result<Option<i64>, StatusError>;
}

/// The rules of a [`Resource`].
pub(crate) struct Typed<T>(PhantomData<fn() -> T>);

impl<T: Resource> Typed<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }

    fn decode(mut body: Value, kind: &Kind) -> Result<T, StatusError> {
        let unreadable = |why: String| {
            let (name, version) = (&kind.name, &kind.version);
            StatusError::bad_request(format!("{name} in version \"{version}\" cannot be handled as a {name}: {why}"))
        };
        times::admit(&mut body, kind.schema()).map_err(unreadable)?;
        // The place of an error costs as much as the decoding.
        T::deserialize(&body)
            .or_else(|_| serde_path_to_error::deserialize(body))
            .map_err(|error| unreadable(format!("{}: {}", error.path(), error.inner())))
    }

    /// Decodes what is stored.
    fn decode_stored(mut stored: Value, kind: &Kind) -> Result<T, StatusError> {
        let unreadable = |why: String| StatusError::internal(format!("a stored {} does not decode: {why}", kind.name));
        times::admit(&mut stored, kind.schema()).map_err(unreadable)?;
        T::deserialize(stored).map_err(|error| unreadable(error.to_string()))
    }

    fn add(body: Value, context: &mut Context<'_>, prepare: impl FnOnce(&mut T)) -> Result<Prepared, StatusError> {
        let mut object = Self::decode(body, context.kind)?;
        metadata::admit(object.metadata_mut(), context)?;
        object.apply_defaults();
        prepare(&mut object);
        let generated_name = metadata::found(object.metadata_mut(), context);

        let mut errors = FieldErrors::default();
        metadata::validate(object.metadata(), T::NAME_RULE, &mut errors);
        object.validate(&mut errors);
        if errors.is_empty() {
            object.allocate(None, context, &mut errors);
        }
        metadata::check(object.metadata(), context, errors)?;
        Self::finish(&object, context.kind, generated_name)
    }

    fn finish(object: &T, kind: &Kind, generated_name: bool) -> Result<Prepared, StatusError> {
        let value = serde_json::to_value(object).map_err(|error| StatusError::internal(error.to_string()))?;
        let Value::Object(mut map) = value else {
            return Err(StatusError::internal("an object that does not encode to a JSON object"));
        };
        times::restore(&mut map, kind.schema());
        map.remove("kind");
        map.remove("apiVersion");
        shape::prune(&mut map);
        T::shape(&mut map);
        Ok(Prepared {
            object: map,
            fields: object.fields(),
            held: object.held(),
            metadata: object.metadata().clone(),
            generated_name,
        })
    }
}

impl<T: Resource> Rules for Typed<T> {
    fn create(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        Self::add(body, context, T::prepare_create)
    }

    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        Self::add(body, context, T::prepare_load)
    }

    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        let old = Self::decode_stored(old, context.kind)?;
        let mut object = Self::decode(new, context.kind)?;
        let mut errors = FieldErrors::default();
        metadata::carry(object.metadata_mut(), old.metadata(), &mut errors);
        object.apply_defaults();
        match part {
            Part::Main => object.prepare_update(&old),
            Part::Status => object.prepare_status_update(&old),
        }
        metadata::validate_after_create(object.metadata(), &mut errors);
        object.validate(&mut errors);
        object.validate_update(&old, &mut errors);
        if errors.is_empty() {
            object.allocate(Some(&old), context, &mut errors);
        }
        metadata::check(object.metadata(), context, errors)?;
        Self::finish(&object, context.kind, false)
    }

    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError> {
        let mut object = Self::decode_stored(object, kind)?;
        object.metadata_mut().resource_version = None;
        Self::finish(&object, kind, false)
    }

    fn grace(&self, object: &Value, kind: &Kind, requested: Option<i64>) -> Result<Option<i64>, StatusError> {
        Ok(Self::decode_stored(object.clone(), kind)?.grace(requested))
    }
}
