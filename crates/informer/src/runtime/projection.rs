//! Types with some of the fields of a resource.

/// Makes a type with some of the fields of a resource a `kube::Resource`, so that a [`Cache`](crate::runtime::Cache) of it keeps
/// only these.
///
/// The type has a field `metadata` of the type `kube::core::ObjectMeta` and implements `serde::Deserialize`, which skips everything
/// that it has no field for. A field that it lacks cannot be read: the program does not compile. The metadata are whole except
/// for `managedFields`, because `kube` hands them out by `Resource::meta`.
///
/// An `Api` of the type reads and patches objects. It does not replace them, unless the type implements `serde::Serialize`: do
/// not, since an object without some of its fields would lose them.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::{Resource as _, core::ObjectMeta};
///
/// #[derive(Debug, Clone, serde::Deserialize)]
/// struct PodPhase {
///     metadata: ObjectMeta,
///     #[serde(default)]
///     status: Phase,
/// }
///
/// #[derive(Debug, Clone, Default, serde::Deserialize)]
/// struct Phase {
///     phase: Option<String>,
/// }
///
/// kube_informer::projection!(PodPhase, Pod);
/// assert_eq!(PodPhase::url_path(&(), Some("shop")), "/api/v1/namespaces/shop/pods");
/// ```
///
/// ```compile_fail,E0609
/// # use k8s_openapi::api::core::v1::Pod;
/// # #[derive(Debug, Clone, serde::Deserialize)]
/// # struct PodPhase { metadata: kube::core::ObjectMeta }
/// # kube_informer::projection!(PodPhase, Pod);
/// fn node(pod: &PodPhase) -> Option<&str> {
///     pod.spec.node_name.as_deref() // no field `spec` on type `&PodPhase`
/// }
/// ```
#[macro_export]
macro_rules! projection {
    ($type:ty, $resource:ty $(,)?) => {
        impl $crate::runtime::kube::Resource for $type {
            type DynamicType = ();
            type Scope = <$resource as $crate::runtime::kube::Resource>::Scope;

            fn kind(_: &()) -> ::std::borrow::Cow<'_, str> {
                <$resource as $crate::runtime::kube::Resource>::kind(&())
            }

            fn group(_: &()) -> ::std::borrow::Cow<'_, str> {
                <$resource as $crate::runtime::kube::Resource>::group(&())
            }

            fn version(_: &()) -> ::std::borrow::Cow<'_, str> {
                <$resource as $crate::runtime::kube::Resource>::version(&())
            }

            fn plural(_: &()) -> ::std::borrow::Cow<'_, str> {
                <$resource as $crate::runtime::kube::Resource>::plural(&())
            }

            fn meta(&self) -> &$crate::runtime::kube::core::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut $crate::runtime::kube::core::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
