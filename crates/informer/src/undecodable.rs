//! The author's choice for objects that cannot be decoded.

use std::sync::Arc;

use kube_wire::{DecodeError, ObjectKey, Resource, Undecodable};

/// What an informer does about an object that cannot be decoded; see
/// [`Builder::on_undecodable`](crate::Builder::on_undecodable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUndecodable {
    /// Keeps its last state that could be decoded, if there is one, until it can be decoded again or is deleted. The
    /// default: the object still exists.
    #[default]
    Keep,
    /// Treats it as absent: removes it from the store, with an [`Event::Deleted`](crate::Event::Deleted), until it can be
    /// decoded again.
    Skip,
    /// Ends the informer with an [`UndecodableObject`].
    Fail,
}

/// Error of [`Informer::try_run`](crate::Informer::try_run): an object cannot be decoded, and the choice for it is
/// [`OnUndecodable::Fail`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{resource} {} cannot be decoded", object.as_ref().map_or_else(|| "without a readable name".to_owned(), ToString::to_string))]
pub struct UndecodableObject {
    /// Resource of the informer.
    pub resource: Resource,
    /// Namespace and name; `None` if the name cannot be read.
    pub object: Option<ObjectKey>,
    /// Error of the decoder.
    pub source: DecodeError,
}

pub(crate) type Choice = Arc<dyn Fn(&Undecodable) -> OnUndecodable + Send + Sync>;
