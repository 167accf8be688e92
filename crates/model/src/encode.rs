//! Encoding to JSON without copies.

#![expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::Text;

/// For `skip_serializing_if`: a number that Go omits.
pub(crate) fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// For `serialize_with`: a time in whole seconds, as Kubernetes writes it.
pub(crate) fn time<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&time.strftime("%Y-%m-%dT%H:%M:%SZ")),
        None => serializer.serialize_none(),
    }
}

/// For `serialize_with`: a shared value, written in full.
pub(crate) fn shared<S: Serializer>(it: &Option<Arc<impl Serialize>>, serializer: S) -> Result<S::Ok, S::Error> {
    it.as_deref().serialize(serializer)
}

/// For `serialize_with`: a list of objects whose only field is a name.
pub(crate) fn names<S: Serializer>(names: &[Text], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a> {
        name: &'a Text,
    }
    serializer.collect_seq(names.iter().map(|name| Named { name }))
}
