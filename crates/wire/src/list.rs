//! Lists: the envelope around items.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Decode, DecodeError, json};

/// The answer to a list request, or one page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T> {
    /// The version from which a watch continues this list.
    pub resource_version: String,
    /// Present when more pages follow.
    pub continue_token: Option<String>,
    /// How many objects follow, when the server says so.
    pub remaining: Option<u64>,
    /// The objects, in the server's order.
    pub items: Vec<T>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    metadata: Metadata,
    // Go writes a nil slice as `null`.
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    resource_version: String,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    remaining_item_count: Option<u64>,
}

/// Reads the answer to a list request from JSON, item by item.
///
/// A document of another kind (a `Status`, a `Table`) is refused; an error in an item names its place, such as
/// `items[3].spec`.
pub fn decode_list<T: Decode>(bytes: &[u8]) -> Result<List<T>, DecodeError> {
    let kind = format!("{}List", T::RESOURCE.kind);
    let envelope: Envelope<'_> =
        serde_json::from_slice(bytes).map_err(|error| json::located(&kind, String::new(), &error))?;
    if let Some(found) = envelope.kind.filter(|found| *found != kind) {
        return Err(DecodeError::Kind { kind, found });
    }
    let items = envelope.items.unwrap_or_default();
    let items = items.into_iter().enumerate().map(|(at, item)| decode_item::<T>(&kind, at, item));
    let items = items.collect::<Result<_, _>>()?;
    let Metadata { resource_version, continue_token, remaining_item_count } = envelope.metadata;
    let continue_token = continue_token.filter(|token| !token.is_empty());
    Ok(List { resource_version, continue_token, remaining: remaining_item_count, items })
}

fn decode_item<T: Decode>(list: &str, at: usize, item: &RawValue) -> Result<T, DecodeError> {
    let object = T::from_json(item.get().as_bytes()).and_then(named);
    object.map_err(|error| match error {
        DecodeError::Json { mut place, message, resource_version, .. } => {
            let dot = if place.path.is_empty() || place.path.starts_with('[') { "" } else { "." };
            place.path = format!("items[{at}]{dot}{}", place.path);
            DecodeError::Json { kind: list.to_owned(), place, message, resource_version }
        }
        other => other,
    })
}

/// Refuses an object that no key could name, for it would silently replace another one.
pub(crate) fn named<T: Decode>(object: T) -> Result<T, DecodeError> {
    if object.name().is_empty() {
        return Err(DecodeError::Nameless { kind: T::RESOURCE.kind.to_owned(), resource_version: None });
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{Object as _, testing::Thing};

    fn check(text: &str) -> Result<List<Thing>, String> {
        decode_list(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_a_page() {
        let list = check(
            r#"{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"c","remainingItemCount":4},
                "items":[{"metadata":{"name":"a","namespace":"x"},"size":3}]}"#,
        )
        .unwrap();
        assert_eq!(
            (list.resource_version.as_str(), list.continue_token.as_deref(), list.remaining),
            ("9", Some("c"), Some(4))
        );
        assert_eq!((list.items[0].key().to_string(), list.items[0].size), ("x/a".to_owned(), 3));
    }

    #[rstest]
    #[case::null_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"},"items":null}"#)]
    #[case::no_items(r#"{"kind":"ThingList","metadata":{"resourceVersion":"9"}}"#)]
    #[case::last_page(r#"{"metadata":{"resourceVersion":"9","continue":""},"items":[]}"#)]
    fn reads_nothing(#[case] text: &str) {
        let list = check(text).unwrap();
        assert!(list.items.is_empty() && list.continue_token.is_none(), "{list:?}");
    }

    #[rstest]
    #[case::status(r#"{"kind":"Status","code":500}"#, "expected ThingList, the server sent Status")]
    #[case::item(
        r#"{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"size":"big"}]}"#,
        "cannot decode ThingList: items[1].size"
    )]
    #[case::scalar(r#"{"items":[7]}"#, "cannot decode ThingList: items[0] (line 1")]
    #[case::nameless(r#"{"items":[{"metadata":{}}]}"#, "cannot decode Thing: an object without metadata.name")]
    #[case::cut(r#"{"items":[{"metadata""#, "cannot decode ThingList: line 1 column 21: EOF")]
    #[case::text("upstream connect error", "cannot decode ThingList: line 1 column 1: expected value")]
    fn refuses(#[case] text: &str, #[case] expect: &str) {
        let error = check(text).unwrap_err();
        assert!(error.starts_with(expect), "{error}");
    }
}
