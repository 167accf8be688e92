//! The objects that are recorded.

use std::sync::Arc;

pub use kube_endpoint_model::Kind;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_wire::Object as _;

use crate::codec::{Input, Malformed, Output};
use crate::delta::Delta;

/// State of an object: the fields that the endpoint controllers read.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A Service.
    Service(Arc<Service>),
    /// A Pod.
    Pod(Arc<Pod>),
    /// A Node.
    Node(Arc<Node>),
    /// An Endpoints object.
    Endpoints(Arc<Endpoints>),
    /// An EndpointSlice.
    EndpointSlice(Arc<EndpointSlice>),
}

/// Kinds, each at its number in the format.
pub(crate) const KINDS: [Kind; 5] = [Kind::Service, Kind::Pod, Kind::Node, Kind::Endpoints, Kind::EndpointSlice];

/// Returns the number of a kind in the format: its place in [`KINDS`].
pub(crate) fn number_of(kind: Kind) -> u8 {
    match kind {
        Kind::Service => 0,
        Kind::Pod => 1,
        Kind::Node => 2,
        Kind::Endpoints => 3,
        Kind::EndpointSlice => 4,
    }
}

pub(crate) fn read_kind(input: &mut Input<'_>) -> Result<Kind, Malformed> {
    KINDS.get(usize::from(input.byte()?)).copied().ok_or(Malformed("unknown kind of object"))
}

macro_rules! each {
    ($recorded:expr, $object:ident => $result:expr) => {
        match $recorded {
            Recorded::Service($object) => $result,
            Recorded::Pod($object) => $result,
            Recorded::Node($object) => $result,
            Recorded::Endpoints($object) => $result,
            Recorded::EndpointSlice($object) => $result,
        }
    };
}

#[cfg(feature = "audit")]
pub(crate) use each;

impl Recorded {
    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        match self {
            Recorded::Service(_) => Kind::Service,
            Recorded::Pod(_) => Kind::Pod,
            Recorded::Node(_) => Kind::Node,
            Recorded::Endpoints(_) => Kind::Endpoints,
            Recorded::EndpointSlice(_) => Kind::EndpointSlice,
        }
    }

    /// Returns namespace and name.
    pub fn key(&self) -> ObjectKey {
        each!(self, object => object.key())
    }

    pub(crate) fn is(&self, kind: Kind, key: &ObjectKey) -> bool {
        self.kind() == kind && each!(self, object => object.name() == key.name && object.namespace() == key.namespace)
    }

    /// Returns the version as a number; 0 if it is none.
    pub(crate) fn version(&self) -> u64 {
        each!(self, object => object.resource_version().number().unwrap_or_default())
    }

    /// Writes the whole object.
    pub(crate) fn write(&self, out: &mut Output) {
        fn whole<T: Delta + Default>(object: &T, out: &mut Output) {
            object.write(&T::default(), out);
        }
        out.byte(number_of(self.kind()));
        each!(self, object => whole(&**object, out));
    }

    /// Reads what [`write`](Self::write) has written.
    pub(crate) fn read(input: &mut Input<'_>) -> Result<Recorded, Malformed> {
        fn whole<T: Delta + Default>(input: &mut Input<'_>) -> Result<Arc<T>, Malformed> {
            T::read(&T::default(), input).map(Arc::new)
        }
        Ok(match read_kind(input)? {
            Kind::Service => Recorded::Service(whole(input)?),
            Kind::Pod => Recorded::Pod(whole(input)?),
            Kind::Node => Recorded::Node(whole(input)?),
            Kind::Endpoints => Recorded::Endpoints(whole(input)?),
            Kind::EndpointSlice => Recorded::EndpointSlice(whole(input)?),
        })
    }

    /// Writes the difference from an earlier state of the object; returns false, and writes nothing, for one of another
    /// kind.
    pub(crate) fn write_difference(&self, before: &Recorded, out: &mut Output) -> bool {
        match (self, before) {
            (Recorded::Service(now), Recorded::Service(before)) => now.write(before, out),
            (Recorded::Pod(now), Recorded::Pod(before)) => now.write(before, out),
            (Recorded::Node(now), Recorded::Node(before)) => now.write(before, out),
            (Recorded::Endpoints(now), Recorded::Endpoints(before)) => now.write(before, out),
            (Recorded::EndpointSlice(now), Recorded::EndpointSlice(before)) => now.write(before, out),
            _ => return false,
        }
        true
    }

    /// Reads what [`write_difference`](Self::write_difference) has written.
    pub(crate) fn read_difference(&self, input: &mut Input<'_>) -> Result<Recorded, Malformed> {
        Ok(match self {
            Recorded::Service(before) => Recorded::Service(Arc::read(before, input)?),
            Recorded::Pod(before) => Recorded::Pod(Arc::read(before, input)?),
            Recorded::Node(before) => Recorded::Node(Arc::read(before, input)?),
            Recorded::Endpoints(before) => Recorded::Endpoints(Arc::read(before, input)?),
            Recorded::EndpointSlice(before) => Recorded::EndpointSlice(Arc::read(before, input)?),
        })
    }
}

macro_rules! from_objects {
    ($($kind:ident)*) => {
        $(impl From<Arc<$kind>> for Recorded {
            fn from(object: Arc<$kind>) -> Self {
                Recorded::$kind(object)
            }
        })*
    };
}

from_objects!(Service Pod Node Endpoints EndpointSlice);
