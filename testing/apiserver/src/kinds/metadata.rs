//! Object metadata: defaults, server-side fields and validation, as upstream's `rest.BeforeCreate` and
//! `rest.BeforeUpdate`.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use rand::RngExt as _;
use rand::rngs::StdRng;

use crate::field::FieldErrors;
use crate::names::{self, NameRule, check_annotations, check_labels, check_qualified_name};
use crate::status::StatusError;

/// Prepares the metadata of a create: sets the namespace of the path and clears the fields that clients cannot set.
/// Fails with 500 if the object has a resource version (as upstream), 400 if its namespace differs from that of the
/// path.
pub(super) fn prepare_create(meta: &mut ObjectMeta, namespace: Option<&str>) -> Result<(), StatusError> {
    if meta.resource_version.as_deref().is_some_and(|version| !matches!(version, "" | "0")) {
        return Err(StatusError::untyped("resourceVersion should not be set on objects to be created"));
    }
    meta.resource_version = None;
    clear_unstored(meta);
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    meta.generation = None;
    if meta.namespace.as_deref().is_some_and(|given| namespace.is_some_and(|namespace| namespace != given)) {
        return Err(StatusError::other_namespace());
    }
    // As upstream, a namespace on a cluster-scoped object is dropped.
    meta.namespace = namespace.map(str::to_owned);
    Ok(())
}

/// Sets creation time, uid and, if only `generateName` is given, a name. Returns whether the name was generated.
pub(super) fn assign_identity(meta: &mut ObjectMeta, now: Timestamp, rng: &mut StdRng) -> bool {
    meta.creation_timestamp = Some(Time(now));
    meta.uid = Some(uuid::Builder::from_random_bytes(rng.random()).into_uuid().to_string());
    match (&meta.name, &meta.generate_name) {
        (None, Some(base)) => {
            meta.name = Some(names::generate(base, rng));
            true
        }
        _ => false,
    }
}

/// Prepares the metadata of an update: takes server-side fields from the stored object and checks immutable fields.
pub(super) fn prepare_update(meta: &mut ObjectMeta, old: &ObjectMeta, errors: &mut FieldErrors) {
    clear_unstored(meta);
    meta.resource_version = None;
    meta.generation = old.generation;
    meta.namespace.clone_from(&old.namespace);
    if meta.uid.is_none() {
        meta.uid.clone_from(&old.uid);
    }
    // A deletion cannot be undone. Old clients omit timestamps or truncate them to seconds, which the comparison below
    // allows.
    if meta.creation_timestamp.is_none() {
        meta.creation_timestamp.clone_from(&old.creation_timestamp);
    }
    if meta.deletion_timestamp.is_none() {
        meta.deletion_timestamp.clone_from(&old.deletion_timestamp);
    }
    if meta.deletion_grace_period_seconds.is_none() {
        meta.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    }
    let mut immutable = |field: &str, new: Option<String>, old: Option<String>| {
        if new != old {
            errors.invalid(format!("metadata.{field}"), new.unwrap_or_default(), "field is immutable");
        }
    };
    immutable("uid", meta.uid.clone(), old.uid.clone());
    let time = |time: &Option<Time>| time.as_ref().map(|time| time.0.as_second().to_string());
    immutable("creationTimestamp", time(&meta.creation_timestamp), time(&old.creation_timestamp));
    immutable("deletionTimestamp", time(&meta.deletion_timestamp), time(&old.deletion_timestamp));
    let grace = |meta: &ObjectMeta| meta.deletion_grace_period_seconds.map(|seconds| seconds.to_string());
    immutable("deletionGracePeriodSeconds", grace(meta), grace(old));

    if old.deletion_timestamp.is_some() {
        let old_finalizers = old.finalizers.as_deref().unwrap_or_default();
        let added: Vec<&String> = meta.finalizers.iter().flatten().filter(|it| !old_finalizers.contains(it)).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
            );
            errors.forbidden("metadata.finalizers", &detail);
        }
    }
}

pub(super) fn count_generation(meta: &mut ObjectMeta, old: &ObjectMeta, has_changed: bool) {
    if has_changed {
        meta.generation = Some(old.generation.unwrap_or_default() + 1);
    }
}

/// Removes fields that this server does not store, and empty strings, which mean absent.
fn clear_unstored(meta: &mut ObjectMeta) {
    meta.managed_fields = None;
    meta.self_link = None;
    for text in [&mut meta.name, &mut meta.generate_name, &mut meta.namespace, &mut meta.uid] {
        if text.as_deref() == Some("") {
            *text = None;
        }
    }
}

pub(super) fn validate(meta: &ObjectMeta, rule: NameRule, errors: &mut FieldErrors) {
    if let Some(base) = &meta.generate_name {
        // As upstream, a trailing dash is valid: generated characters will follow it.
        let as_name = base.strip_suffix('-').map_or_else(|| base.clone(), |stem| format!("{stem}a"));
        rule.check("metadata.generateName", &as_name, errors);
    }
    match &meta.name {
        Some(name) => rule.check("metadata.name", name, errors),
        None => errors.required("metadata.name", "name or generateName is required"),
    }
    validate_after_create(meta, errors);
}

pub(super) fn validate_after_create(meta: &ObjectMeta, errors: &mut FieldErrors) {
    if let Some(labels) = &meta.labels {
        check_labels("metadata.labels", labels, errors);
    }
    if let Some(annotations) = &meta.annotations {
        check_annotations("metadata.annotations", annotations, errors);
    }
    for finalizer in meta.finalizers.iter().flatten() {
        check_qualified_name("metadata.finalizers", finalizer, errors);
    }
    let mut controller = None;
    for (i, owner) in meta.owner_references.iter().flatten().enumerate() {
        let field = format!("metadata.ownerReferences[{i}]");
        for (name, value) in
            [("apiVersion", &owner.api_version), ("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)]
        {
            if value.is_empty() {
                errors.required(format!("{field}.{name}"), "must not be empty");
            }
        }
        if owner.controller == Some(true)
            && let Some(first) = controller.replace(&owner.name)
        {
            let detail = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {}",
                owner.name
            );
            errors.invalid("metadata.ownerReferences", owner.name.as_str(), detail);
        }
    }
}
