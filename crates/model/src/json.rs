//! Decoding of JSON without copies: strings are borrowed from the document and interned.
//!
//! As in Go, `null` decodes to the zero value of the expected type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::{Text, intern};

/// A string of the document, borrowed unless it has escapes.
#[derive(Default)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl AsRef<str> for Str<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Str<'de>, E> {
                Ok(Str::default())
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// For `deserialize_with`: converts a string that is borrowed from the document.
pub(crate) fn from_str<'de, D: Deserializer<'de>, T: for<'a> From<&'a str>>(deserializer: D) -> Result<T, D::Error> {
    Str::deserialize(deserializer).map(|text| T::from(&text.0))
}

/// For `deserialize_with`: an interned string.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
    Str::deserialize(deserializer).map(|text| intern::text(&text.0))
}

/// For `deserialize_with`: an interned string, or `None` for null.
pub(crate) fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text>, D::Error> {
    Option::<Str<'_>>::deserialize(deserializer).map(|text| text.map(|text| intern::text(&text.0)))
}

/// For `deserialize_with`: an interned string that Go holds by value; `None` if it is empty.
pub(crate) fn non_empty_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text>, D::Error> {
    text(deserializer).map(|text| Some(text).filter(|text| !text.is_empty()))
}

/// For `deserialize_with`: any value; null is the default value.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// For `deserialize_with`: a list without spare capacity.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let mut list = Vec::new();
    each(deserializer, |item| list.push(item))?;
    list.shrink_to_fit();
    Ok(list)
}

/// For `deserialize_with`: a list of interned strings.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    let mut texts = Vec::new();
    each(deserializer, |text: Str<'_>| texts.push(intern::text(&text.0)))?;
    texts.shrink_to_fit();
    Ok(texts)
}

/// For `deserialize_with`: a list of objects whose only field is a name.
pub(crate) fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Named {
        #[serde(deserialize_with = "text")]
        name: Text,
    }
    let mut names = Vec::new();
    each(deserializer, |it: Named| names.push(it.name))?;
    Ok(names)
}

/// Calls `take` with each item of a list; a null item is the default value, a null list is empty.
pub(crate) fn each<'de, D, T>(deserializer: D, take: impl FnMut(T)) -> Result<(), D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    struct Visit<T, F>(F, PhantomData<T>);
    impl<'de, T: Deserialize<'de> + Default, F: FnMut(T)> Visitor<'de> for Visit<T, F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
        fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
            while let Some(item) = list.next_element::<Option<T>>()? {
                (self.0)(item.unwrap_or_default());
            }
            Ok(())
        }
    }
    deserializer.deserialize_any(Visit(take, PhantomData))
}
