//! Shared strings, and decoding of text with Go's treatment of invalid UTF-8.

use std::borrow::Cow;

/// Reference-counted immutable string, one pointer wide, for text that many objects have in common.
///
/// It dereferences to `str` and is created with `Text::from("web")`; a clone increments a reference count.
pub type Text = arcstr::ArcStr;

/// Replaces each invalid byte by U+FFFD, as Go's `encoding/json`. Go's protobuf decoder keeps such bytes.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(replace_invalid(bytes)),
    }
}

#[cold]
fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
