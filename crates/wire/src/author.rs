//! Implementations of [`Object`](crate::Object), [`Decode`](crate::Decode) and [`Encode`](crate::Encode) for types of
//! other crates' authors.

/// Implements [`Object`](crate::Object) and [`Decode`](crate::Decode) for a type with a field `metadata` and
/// [`serde::Deserialize`], such as one that `kube::CustomResource` derives.
///
/// The field is of any type that implements [`Metadata`](crate::Metadata): the `ObjectMeta` of `kube-endpoint-model`,
/// that of `k8s-openapi` with the feature of this name, or [`ObjectHead`](crate::ObjectHead). With the type alone, only
/// `Object` is implemented. With `, write` at the end, the type also gets [`Encode`](crate::Encode): it must implement
/// [`serde::Serialize`] and write `apiVersion` and `kind`, as the derived types do.
///
/// ```
/// use kube_wire::{Decode, Object, ObjectHead, Resource};
///
/// #[derive(serde::Deserialize)]
/// struct Widget {
///     metadata: ObjectHead,
///     spec: Spec,
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Spec {
///     size: u32,
/// }
///
/// kube_wire::object!(Widget, Resource::namespaced("example.com", "v1", "widgets", "Widget"));
///
/// let widget = Widget::from_json(br#"{"metadata": {"namespace": "shop", "name": "w"}, "spec": {"size": 3}}"#)?;
/// assert_eq!((widget.name(), widget.spec.size), ("w", 3));
/// # Ok::<(), kube_wire::DecodeError>(())
/// ```
#[macro_export]
macro_rules! object {
    ($type:ty $(,)?) => {
        impl $crate::Object for $type {
            fn namespace(&self) -> &str {
                $crate::Metadata::namespace(&self.metadata)
            }

            fn name(&self) -> &str {
                $crate::Metadata::name(&self.metadata)
            }

            fn uid(&self) -> $crate::Uid {
                $crate::Metadata::uid(&self.metadata)
            }

            fn resource_version(&self) -> $crate::ResourceVersion {
                $crate::Metadata::resource_version(&self.metadata)
            }

            fn key(&self) -> $crate::ObjectKey {
                $crate::Metadata::key(&self.metadata)
            }
        }
    };
    ($type:ty, $resource:expr $(,)?) => {
        $crate::object!($type);

        impl $crate::Decode for $type {
            const RESOURCE: $crate::Resource = $resource;

            fn from_json(bytes: &[u8]) -> ::core::result::Result<Self, $crate::DecodeError> {
                $crate::json::from_slice(Self::RESOURCE.kind, bytes)
            }
        }
    };
    ($type:ty, $resource:expr, write $(,)?) => {
        $crate::object!($type, $resource);

        impl $crate::Encode for $type {}
    };
}
