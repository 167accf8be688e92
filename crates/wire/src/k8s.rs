//! [`Object`], [`Decode`] and [`Encode`] for the types of `k8s-openapi`.

use k8s_openapi::{
    ClusterResourceScope, Metadata, NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta,
    jiff::Timestamp,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Decode, DecodeError, Encode, Object, Resource, ResourceVersion, Uid, json};

/// Scope of a resource: namespaced or cluster-scoped.
pub trait Scope {
    #[doc(hidden)]
    const NAMESPACED: bool;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl<K> Object for K
where
    K: Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
{
    fn namespace(&self) -> &str {
        self.metadata().namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> Uid {
        self.metadata().uid.as_deref().map(Uid::from).unwrap_or_default()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata().resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default()
    }
}

impl<K> Decode for K
where
    K: Metadata<Ty = ObjectMeta> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: Scope,
{
    const RESOURCE: Resource = Resource {
        group: K::GROUP,
        version: K::VERSION,
        plural: K::URL_PATH_SEGMENT,
        kind: K::KIND,
        namespaced: <K::Scope as Scope>::NAMESPACED,
    };

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        from_slice_with_times(K::KIND, bytes)
    }
}

impl<K> Encode for K
where
    K: Metadata<Ty = ObjectMeta> + DeserializeOwned + Serialize + Send + Sync + 'static,
    K::Scope: Scope,
{
}

/// Decodes a JSON document as [`json::from_slice`] does, into a type with times of `k8s-openapi`, which replaces those out of
/// its range by the nearest in range.
///
/// # Errors
///
/// Those of [`json::from_slice`].
pub fn from_slice_with_times<D: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<D, DecodeError> {
    json::from_slice(kind, bytes).or_else(|error| {
        let Ok(mut document) = serde_json::from_slice(bytes) else { return Err(error) };
        clamp_times(&mut document);
        json::from_slice(kind, document.to_string().as_bytes()).map_err(|_| error)
    })
}

/// Replaces times that `metav1.Time` supports and `jiff::Timestamp` does not by the nearest supported one.
///
/// Without this, a Lease with the `renewTime` `9999-12-31T23:59:59.000000Z`, which any client with write access can
/// set, could not be decoded, and no candidate could acquire it.
fn clamp_times(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(clamp_times),
        Value::Object(members) => {
            for (name, value) in members {
                let is_time = name.ends_with("Time") || name.ends_with("Timestamp");
                match value.as_str().filter(|_| is_time).and_then(clamped) {
                    Some(time) => *value = time.into(),
                    None => clamp_times(value),
                }
            }
        }
        _ => {}
    }
}

/// Returns the replacement for a time out of range, in the format of `metav1.MicroTime`; `None` for any other text.
fn clamped(text: &str) -> Option<&'static str> {
    if text.parse::<Timestamp>().is_ok() {
        return None;
    }
    let year = text.find('-').map(|at| &text[..at])?;
    match year.parse::<u32>() {
        // A time before the year 0 (text with a leading `-`), which Go formats after applying an offset.
        Err(_) if year.is_empty() => Some("0000-01-01T00:00:00.000000Z"),
        Ok(9999..) => Some("9999-12-30T22:00:00.999999Z"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{coordination::v1::Lease, core::v1::Node, discovery::v1::EndpointSlice};
    use rstest::rstest;

    use super::*;
    use crate::decode_list;

    #[test]
    fn resources_of_types() {
        assert_eq!(
            EndpointSlice::RESOURCE.path(Some("shop")),
            "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices"
        );
        assert_eq!(Node::RESOURCE, Resource::cluster("", "v1", "nodes", "Node"));
    }

    #[rstest]
    #[case::in_range("2026-02-03T04:00:00.000000Z", "2026-02-03T04:00:00Z")]
    #[case::last_of_rfc_3339("9999-12-31T23:59:59.000000Z", "9999-12-30T22:00:00.999999Z")]
    #[case::after_the_year_9999("10000-01-01T22:58:59.000000Z", "9999-12-30T22:00:00.999999Z")]
    #[case::before_the_year_zero("-0001-12-31T00:01:00.000000Z", "0000-01-01T00:00:00Z")]
    fn times_out_of_range_are_clamped(#[case] text: &str, #[case] expect: &str) {
        let lease = format!(
            r#"{{"metadata":{{"name":"a","annotations":{{"note":"{text}"}}}},"spec":{{"holderIdentity":"b","renewTime":"{text}"}}}}"#
        );
        let lease = Lease::from_json(lease.as_bytes()).unwrap();
        let spec = lease.spec.unwrap();
        assert_eq!(spec.renew_time.unwrap().0, expect.parse().unwrap());
        assert_eq!(lease.metadata.annotations.unwrap()["note"], text);
    }

    #[test]
    fn invalid_time_is_an_error() {
        assert!(Lease::from_json(br#"{"metadata":{"name":"a"},"spec":{"renewTime":"yesterday"}}"#).is_err());
    }

    #[test]
    fn decodes_list_items_without_kind() {
        let list = decode_list::<Node>(
            br#"{"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"3"}}]}"#,
        );
        let node = &list.unwrap().items[0];
        assert_eq!(node.key().to_string(), "a");
        assert_eq!((Object::uid(node), Object::resource_version(node)), ("u".into(), 3.into()));
    }
}
