//! Strings that many objects share.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::Visitor;

/// A string that is shared, not copied, by the objects that repeat it; one pointer wide.
///
/// It is a string like any other (`&*text`, `Text::from("web")`); a clone counts a reference.
pub type Text = arcstr::ArcStr;

/// Replaces each byte that is not UTF-8 by U+FFFD, as Go does where it writes or decodes JSON. A Go program accepts such bytes
/// from protobuf as they are.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(replaced(bytes)),
    }
}

#[cold]
fn replaced(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Reads anything that is made from a text, without an owned copy where the input can be borrowed.
pub(crate) struct FromText<T>(&'static str, PhantomData<T>);

impl<T> FromText<T> {
    /// `what` is expected.
    pub(crate) fn new(what: &'static str) -> Self {
        Self(what, PhantomData)
    }
}

impl<T: for<'a> From<&'a str>> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from(text))
    }
}
