//! Fields that are an `Option` in some versions of the types of `k8s-openapi`, and not in others.

/// Returns the value of a field as an `Option`, whether or not it is one. The field may be borrowed.
pub(crate) fn optional<T>(field: impl Into<Option<T>>) -> Option<T> {
    field.into()
}
