//! The rules of kinds: the hooks that a kind implements, and the sequence in which creates and updates call them.

use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::rules::{Context, Part, Prepared, Rules};
use super::{Kind, metadata, shape, times};
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::protobuf;
use crate::service_addresses::Allocation;
use crate::status::StatusError;

/// Storage rules of one kind. The hooks correspond to those of upstream's registry strategies (`RESTCreateStrategy`,
/// `RESTUpdateStrategy`); [`Typed`] calls them.
pub(crate) trait Resource:
    k8s_openapi::Metadata<Ty = ObjectMeta> + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Syntax of object names.
    const NAME_RULE: NameRule = NameRule::Subdomain;
    /// Paths of the fields that field selectors may use, besides name and namespace.
    const SELECTABLE: &'static [&'static str] = &[];

    /// Sets the defaults of the versioned type, on every write.
    fn apply_defaults(&mut self) {}

    /// Clears what a client cannot set on create, and sets what the server does. Name and uid are set already.
    fn prepare_create(&mut self) {}

    /// Prepares an object stored by `Server::load`. Kinds whose status must be kept override it.
    fn prepare_load(&mut self) {
        self.prepare_create();
    }

    /// Copies from the stored object what an update of the main resource cannot change.
    fn prepare_update(&mut self, _old: &Self) {}

    /// Copies everything except the status from the stored object.
    fn prepare_status_update(&mut self, _old: &Self) {}

    fn validate(&self, _errors: &mut FieldErrors) {}

    /// Validates an update. Kinds that accept unchanged parts which a new object may not have override it.
    fn validate_over(&self, _old: &Self, errors: &mut FieldErrors) {
        self.validate(errors);
    }

    fn validate_update(&self, _old: &Self, _errors: &mut FieldErrors) {}

    /// Chooses values that must be unique in the cluster, such as cluster IPs. They are reserved by
    /// [`ServiceAddresses::replace`](crate::service_addresses::ServiceAddresses::replace) when the object is stored.
    fn allocate(&mut self, _old: Option<&Self>, _context: &mut Context<'_>, _errors: &mut FieldErrors) {}

    /// Returns the cluster-unique values that the object occupies.
    fn allocations(&self) -> Vec<Allocation> {
        Vec::new()
    }

    /// Adapts the encoded JSON to Go's encoding where that of the Rust type differs.
    fn shape(_object: &mut Map<String, Value>) {}
}

/// Sets a field that is absent or empty.
pub(super) fn or(field: &mut Option<String>, default: &str) {
    if field.as_deref().is_none_or(str::is_empty) {
        *field = Some(default.to_owned());
    }
}

/// [`Rules`] of a [`Resource`].
pub(crate) struct Typed<T>(PhantomData<fn() -> T>);

/// Constructors of the built-in kinds.
impl Kind {
    pub(super) fn builtin<T: Resource>(short_names: &[&str]) -> Self {
        let mut blank = Map::new();
        T::shape(&mut blank);
        Self {
            index: 0,
            group: T::GROUP.to_owned(),
            version: T::VERSION.to_owned(),
            name: T::KIND.to_owned(),
            plural: T::URL_PATH_SEGMENT.to_owned(),
            singular: T::KIND.to_lowercase(),
            short_names: short_names.iter().map(|&short| short.to_owned()).collect(),
            categories: Vec::new(),
            namespaced: true,
            has_status: false,
            has_scale: false,
            has_grace: false,
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: true,
            blank: Value::Object(blank),
            warning: "",
            selectable: T::SELECTABLE.iter().map(|&path| path.into()).collect(),
            schema_name: T::schema_name().into_owned(),
            custom: None,
            rules: Box::new(Typed::<T>::new()),
        }
    }
}

impl<T: Resource> Typed<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }

    fn decode(mut body: Value, kind: &Kind) -> Result<T, StatusError> {
        let unreadable = |why: String| StatusError::undecodable(kind, &why);
        if let Value::Object(body) = &mut body {
            protobuf::omit_zero_values(T::API_VERSION, T::KIND, body);
        }
        times::normalize(&mut body, kind.schema()).map_err(unreadable)?;
        T::deserialize(&body).map_err(|error| unreadable(error.to_string()))
    }

    fn decode_stored(mut stored: Value, kind: &Kind) -> Result<T, StatusError> {
        let unreadable = |why: String| StatusError::internal(format!("stored {} cannot be decoded: {why}", kind.name));
        times::normalize(&mut stored, kind.schema()).map_err(unreadable)?;
        T::deserialize(&stored).map_err(|error| unreadable(error.to_string()))
    }

    fn add(
        body: Value,
        context: &mut Context<'_>,
        prepare: impl FnOnce(&mut T),
        validate: impl FnOnce(&T, &mut FieldErrors),
    ) -> Result<Prepared, StatusError> {
        let mut object = Self::decode(body, context.kind)?;
        metadata::prepare_create(object.metadata_mut(), context)?;
        let generated_name = metadata::assign_identity(object.metadata_mut(), context);
        object.apply_defaults();
        let written = Self::written(&object, context)?;
        prepare(&mut object);

        let mut errors = FieldErrors::default();
        metadata::validate(object.metadata(), T::NAME_RULE, &mut errors);
        validate(&object, &mut errors);
        if errors.is_empty() {
            object.allocate(None, context, &mut errors);
        }
        metadata::check(object.metadata(), context, errors)?;
        Ok(Prepared { written, ..Self::finish(&object, context.kind, generated_name)? })
    }

    fn written(object: &T, context: &Context<'_>) -> Result<Option<Map<String, Value>>, StatusError> {
        context.tracks.then(|| Self::encode(object, context.kind)).transpose()
    }

    fn finish(object: &T, kind: &Kind, generated_name: bool) -> Result<Prepared, StatusError> {
        Ok(Prepared {
            object: Self::encode(object, kind)?,
            allocations: object.allocations(),
            metadata: object.metadata().clone(),
            generated_name,
            written: None,
        })
    }

    /// Encodes an object as Go does, without kind and apiVersion.
    fn encode(object: &T, kind: &Kind) -> Result<Map<String, Value>, StatusError> {
        let value = serde_json::to_value(object).map_err(|error| StatusError::internal(error.to_string()))?;
        let Value::Object(mut map) = value else {
            return Err(StatusError::internal("an object is not encoded as a JSON object"));
        };
        times::restore(&mut map, kind.schema());
        map.remove("kind");
        map.remove("apiVersion");
        shape::prune(&mut map);
        T::shape(&mut map);
        Ok(map)
    }
}

impl<T: Resource> Rules for Typed<T> {
    fn create(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        Self::add(body, context, T::prepare_create, T::validate)
    }

    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        // An earlier version of the API server may have accepted it.
        Self::add(body, context, T::prepare_load, |object, errors| object.validate_over(object, errors))
    }

    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        let old = Self::decode_stored(old, context.kind)?;
        let mut object = Self::decode(new, context.kind)?;
        let mut errors = FieldErrors::default();
        metadata::prepare_update(object.metadata_mut(), old.metadata(), &mut errors);
        object.apply_defaults();
        let written = Self::written(&object, context)?;
        match part {
            Part::Main | Part::Scale => object.prepare_update(&old),
            Part::Status => object.prepare_status_update(&old),
        }
        metadata::validate_after_create(object.metadata(), &mut errors);
        object.validate_over(&old, &mut errors);
        object.validate_update(&old, &mut errors);
        if errors.is_empty() {
            object.allocate(Some(&old), context, &mut errors);
        }
        metadata::check(object.metadata(), context, errors)?;
        Ok(Prepared { written, ..Self::finish(&object, context.kind, false)? })
    }

    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError> {
        let mut object = Self::decode_stored(object, kind)?;
        object.metadata_mut().resource_version = None;
        Self::finish(&object, kind, false)
    }

    fn add_schema(&self, generator: &mut SchemaGenerator) {
        generator.subschema_for::<T>();
    }
}
