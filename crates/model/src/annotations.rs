//! Chosen annotations of an object.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use educe::Educe;
use kube_wire::DecodeError;
use kube_wire::protobuf::{Fields, MalformedProtobuf};
use serde::{Deserialize, Deserializer};

use crate::protobuf::Pairs;
use crate::protobuf::fields::{object, object_meta};
use crate::{Labels, Part};

/// The annotations that [`Annotations`] keeps.
pub trait AnnotationKeys: Send + Sync + 'static {
    /// Returns whether the annotation `key` is kept. Must always return the same.
    fn keeps(key: &str) -> bool;
}

/// The annotations of an object that `K` keeps; the others are dropped while decoding. Dereferences to [`Labels`].
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)), PartialEq(bound(false)), Eq(bound(false)))]
pub struct Annotations<K> {
    kept: Labels,
    keys: PhantomData<fn() -> K>,
}

impl<K> Annotations<K> {
    fn new(kept: Labels) -> Self {
        Annotations { kept, keys: PhantomData }
    }
}

impl<K> Deref for Annotations<K> {
    type Target = Labels;

    fn deref(&self) -> &Labels {
        &self.kept
    }
}

impl<K: AnnotationKeys> Part for Annotations<K> {
    const PROTOBUF: bool = true;
    const READS_MANAGED_FIELDS: bool = false;

    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        #[serde(bound = "K: AnnotationKeys")]
        struct Document<K> {
            metadata: Option<Metadata<K>>,
        }

        #[derive(Deserialize)]
        #[serde(bound = "K: AnnotationKeys")]
        struct Metadata<K> {
            annotations: Option<Annotations<K>>,
        }

        let Document { metadata } = kube_wire::json::from_slice(kind, bytes)?;
        Ok(metadata.and_then(|it| it.annotations).unwrap_or_default())
    }

    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        kept::<K>(Fields::new(bytes)).map(Annotations::new).map_err(|error| error.reading(kind))
    }
}

/// Reads the annotations of the field `metadata`, which is the first of every object.
fn kept<K: AnnotationKeys>(message: Fields<'_>) -> Result<Labels, MalformedProtobuf> {
    let mut kept = Labels::default();
    for field in message {
        let field = field?;
        if field.number != object::METADATA {
            continue;
        }
        let mut pairs = Pairs::default();
        for field in field.message()? {
            let field = field?;
            if field.number == object_meta::ANNOTATIONS {
                pairs.push_if(&field, K::keeps)?;
            }
        }
        pairs.merge_into(&mut kept);
    }
    Ok(kept)
}

impl<'de, K: AnnotationKeys> Deserialize<'de> for Annotations<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Labels::deserialize_if(deserializer, K::keeps).map(Annotations::new)
    }
}

impl<K> fmt::Debug for Annotations<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kept.fmt(f)
    }
}
