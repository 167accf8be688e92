//! The built-in kinds: the hooks that each implements, and their calls.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::rules::{Context, Draft, Part, Write};
use super::{Kind, shape, times};
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::protobuf;
use crate::service_addresses::Allocation;
use crate::status::StatusError;

/// Storage rules of one kind. The hooks correspond to those of upstream's registry strategies (`RESTCreateStrategy`,
/// `RESTUpdateStrategy`); [`Change`] calls them.
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

impl Kind {
    /// Returns a kind of `k8s-openapi`.
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
            name_rule: T::NAME_RULE,
            decode: decode::<T>,
            add_schema: |generator| drop(generator.subschema_for::<T>()),
        }
    }
}

/// [`Draft`] of a [`Resource`].
struct Change<'a, T> {
    kind: &'a Kind,
    new: T,
    old: Option<T>,
}

fn decode<T: Resource>(kind: &Kind, old: Option<Value>, new: Value) -> Result<Box<dyn Draft + '_>, StatusError> {
    let decode = |mut body: Value| {
        let unreadable = |why: String| StatusError::undecodable(kind, &why);
        if let Value::Object(body) = &mut body {
            protobuf::omit_zero_values(T::API_VERSION, T::KIND, body);
        }
        times::normalize(&mut body, kind.schema()).map_err(unreadable)?;
        T::deserialize(&body).map_err(|error| unreadable(error.to_string()))
    };
    let old = old.map(decode).transpose()?;
    Ok(Box::new(Change { kind, new: decode(new)?, old }))
}

impl<T: Resource> Draft for Change<'_, T> {
    fn metadata(&mut self) -> (&mut ObjectMeta, Option<&ObjectMeta>) {
        (self.new.metadata_mut(), self.old.as_ref().map(T::metadata))
    }

    fn apply_defaults(&mut self) {
        self.new.apply_defaults();
    }

    fn prepare(&mut self, write: Write) {
        match (write, &self.old) {
            (Write::Load, _) => self.new.prepare_load(),
            (Write::Update(Part::Status), Some(old)) => self.new.prepare_status_update(old),
            (Write::Update(_), Some(old)) => self.new.prepare_update(old),
            (Write::Create | Write::Update(_), _) => self.new.prepare_create(),
        }
    }

    fn validate(&self, write: Write, errors: &mut FieldErrors) -> Result<(), StatusError> {
        match &self.old {
            Some(old) => {
                self.new.validate_over(old, errors);
                self.new.validate_update(old, errors);
            }
            // An earlier version of the API server may have accepted it.
            None if write == Write::Load => self.new.validate_over(&self.new, errors),
            None => self.new.validate(errors),
        }
        Ok(())
    }

    fn allocate(&mut self, context: &mut Context<'_>, errors: &mut FieldErrors) {
        self.new.allocate(self.old.as_ref(), context, errors);
    }

    fn allocations(&self) -> Vec<Allocation> {
        self.new.allocations()
    }

    fn encode(&self) -> Result<Map<String, Value>, StatusError> {
        let value = serde_json::to_value(&self.new).map_err(|error| StatusError::internal(error.to_string()))?;
        let Value::Object(mut map) = value else {
            return Err(StatusError::internal("an object is not encoded as a JSON object"));
        };
        times::restore(&mut map, self.kind.schema());
        map.remove("kind");
        map.remove("apiVersion");
        shape::prune(&mut map);
        T::shape(&mut map);
        Ok(map)
    }
}
