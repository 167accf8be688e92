//! Projections with further parts of the object.

#[cfg(test)]
mod tests;

use std::ops::Deref;

use kube_wire::{Decode, DecodeError, DecodeProblem, Object, ObjectKey, Resource, ResourceVersion, Uid};

use crate::{Labelled, Labels, PodFields, PodView, Selecting};

/// Part of an object that a projection does not contain, for [`With`]. A pair of parts is a part, too.
pub trait Part: PartialEq + Send + Sync + Sized + 'static {
    /// Whether [`from_protobuf`](Self::from_protobuf) is implemented.
    const PROTOBUF: bool = false;

    /// Whether the part contains something of `metadata.managedFields`, see [`Decode::READS_MANAGED_FIELDS`].
    const READS_MANAGED_FIELDS: bool = true;

    /// Decodes the part from the JSON of the object. `kind` is that of the object, for errors.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Json`] if the bytes are not JSON or do not match the type.
    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Decodes the part from the protobuf message of the object.
    ///
    /// # Errors
    ///
    /// [`DecodeProblem::Protobuf`] if the message is malformed or does not match the type. The default implementation
    /// always returns [`DecodeProblem::Encoding`].
    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        let _ = bytes;
        Err(DecodeError::new(kind, DecodeProblem::Encoding("protobuf")))
    }
}

/// Projection `T` of an object, with a further part of it: [`Annotations`](crate::Annotations), or any other [`Part`].
///
/// It dereferences to `T`, and is decoded, indexed and checked by the rules like it. Each object is read once for `T`
/// and once for the part.
///
/// ```
/// use kube_endpoint_model::{AnnotationKeys, Annotations, Pod, With, membership};
/// use kube_wire::Decode as _;
///
/// const STATUS: &str = "k8s.v1.cni.cncf.io/network-status";
///
/// struct Networks;
///
/// impl AnnotationKeys for Networks {
///     fn keeps(key: &str) -> bool {
///         key == STATUS
///     }
/// }
///
/// type NetworkPod = With<Pod, Annotations<Networks>>;
///
/// let pod = NetworkPod::from_json(br#"{
///     "metadata": {"name": "web-0", "annotations": {"k8s.v1.cni.cncf.io/network-status": "[]", "note": "dropped"}},
///     "status": {"podIPs": [{"ip": "10.1.0.1"}]}
/// }"#)?;
/// assert_eq!(pod.part.get(STATUS), Some("[]"));
/// assert!(!pod.part.contains_key("note"));
/// assert_eq!((&*pod.name, membership::exclusion(&pod, true)), ("web-0", None));
/// # Ok::<(), kube_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct With<T, P> {
    /// The projection.
    pub object: T,
    /// The further part.
    pub part: P,
}

impl<T, P> Deref for With<T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Object, P: Part> Object for With<T, P> {
    fn namespace(&self) -> &str {
        self.object.namespace()
    }

    fn name(&self) -> &str {
        self.object.name()
    }

    fn uid(&self) -> Uid {
        self.object.uid()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.object.resource_version()
    }

    fn content_eq(&self, other: &Self) -> bool {
        self.object.content_eq(&other.object) && self.part == other.part
    }

    fn key(&self) -> ObjectKey {
        self.object.key()
    }
}

impl<T: Decode, P: Part> Decode for With<T, P> {
    const RESOURCE: Resource = T::RESOURCE;
    const PROTOBUF: bool = T::PROTOBUF && P::PROTOBUF;
    const READS_MANAGED_FIELDS: bool = T::READS_MANAGED_FIELDS || P::READS_MANAGED_FIELDS;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(With { object: T::from_json(bytes)?, part: P::from_json(T::RESOURCE.kind, bytes)? })
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(With { object: T::from_protobuf(bytes)?, part: P::from_protobuf(T::RESOURCE.kind, bytes)? })
    }
}

impl<T: Labelled, P: Part> Labelled for With<T, P> {
    fn labels(&self) -> &Labels {
        self.object.labels()
    }
}

impl<T: Selecting, P: Part> Selecting for With<T, P> {
    fn selector(&self) -> Option<&Labels> {
        self.object.selector()
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.object.selects(labels)
    }

    fn publishes_not_ready(&self) -> bool {
        self.object.publishes_not_ready()
    }
}

impl<T: PodFields, P: Part> PodFields for With<T, P> {
    fn view(&self) -> PodView<'_> {
        self.object.view()
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    const PROTOBUF: bool = A::PROTOBUF && B::PROTOBUF;
    const READS_MANAGED_FIELDS: bool = A::READS_MANAGED_FIELDS || B::READS_MANAGED_FIELDS;

    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok((A::from_json(kind, bytes)?, B::from_json(kind, bytes)?))
    }

    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok((A::from_protobuf(kind, bytes)?, B::from_protobuf(kind, bytes)?))
    }
}
