//! Implementations of [`Object`](crate::Object), [`Decode`](crate::Decode) and [`Encode`](crate::Encode) for types of
//! other crates' authors.

use crate::{ObjectMeta, ResourceVersion, Uid};

/// What [`object!`](crate::object) reads of the field `metadata`.
#[doc(hidden)]
pub trait Metadata {
    fn namespace(&self) -> &str;
    fn name(&self) -> &str;
    fn uid(&self) -> Uid;
    fn resource_version(&self) -> ResourceVersion;
}

impl Metadata for ObjectMeta {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> Uid {
        self.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version.clone()
    }
}

#[cfg(feature = "k8s-openapi")]
impl Metadata for k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> Uid {
        self.uid.as_deref().map(Uid::from).unwrap_or_default()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default()
    }
}

/// Implements [`Object`](crate::Object) and [`Decode`](crate::Decode) for a type with a field `metadata` and
/// [`serde::Deserialize`], such as one that `kube::CustomResource` derives.
///
/// The field is an [`ObjectMeta`](crate::ObjectMeta) or, with the feature `k8s-openapi`, that of `k8s-openapi`. With
/// `, write` at the end, the type also gets [`Encode`](crate::Encode): it must implement [`serde::Serialize`] and write
/// `apiVersion` and `kind`, as the derived types do.
///
/// ```
/// use kube_wire::{Decode, Object, ObjectMeta, Resource};
///
/// #[derive(serde::Deserialize)]
/// struct Widget {
///     metadata: ObjectMeta,
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
    ($type:ty, $resource:expr $(,)?) => {
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
        }

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
