//! Content negotiation for `/flagz` and `/statusz` (CM-14).
//!
//! Follows `NegotiateMediaTypeOptions` of k8s.io/apiserver with the restrictions of its statusz and flagz packages.

use std::collections::HashMap;

/// Representation of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `text/plain`, for people.
    Text,
    /// An object of `config.k8s.io`.
    Structured {
        encoding: Encoding,
        /// API version without the group.
        version: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

/// Media types of all representations, in order of preference if one range matches several.
pub(crate) const MEDIA_TYPES: [&str; 3] = ["application/json", "application/yaml", "text/plain"];
pub(crate) const GROUP: &str = "config.k8s.io";
/// API version that is deprecated: responses have a `Warning` header.
pub(crate) const DEPRECATED: &str = "v1alpha1";
const VERSIONS: [&str; 2] = ["v1beta1", DEPRECATED];

/// One media range of an `Accept` header.
struct Range<'a> {
    media_type: &'a str,
    /// By name; the last value if a name occurs more than once.
    parameters: HashMap<&'a str, &'a str>,
}

impl<'a> Range<'a> {
    fn parse(text: &'a str) -> Range<'a> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters = parts.filter_map(|it| it.split_once('='));
        let parameters = parameters.map(|(name, value)| (name.trim(), value.trim().trim_matches('"')));
        Range { media_type, parameters: parameters.collect() }
    }

    fn quality(&self) -> f32 {
        self.parameters.get("q").and_then(|quality| quality.parse().ok()).unwrap_or(1.0)
    }

    fn matches(&self, media_type: &str) -> bool {
        self.media_type == "*/*"
            || self.media_type == media_type
            || self.media_type.strip_suffix('*').is_some_and(|it| it.ends_with('/') && media_type.starts_with(it))
    }

    /// Returns the representation for a media type that matches the range; `None` if the parameters exclude it.
    fn form(&self, media_type: &str, kind: &str) -> Option<Form> {
        let parameter = |name| self.parameters.get(name).copied();
        if ["stream", "sv"].into_iter().filter_map(parameter).any(|value| !value.is_empty()) {
            return None;
        }
        let target = ["g", "v", "as"].map(parameter);
        let encoding = match media_type {
            "application/json" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return (target == [None; 3]).then_some(Form::Text),
        };
        let version = VERSIONS.into_iter().find(|version| target == [Some(GROUP), Some(*version), Some(kind)])?;
        Some(Form::Structured { encoding, version })
    }
}

/// Returns the representation that an `Accept` header selects: text if the header is absent or empty, `None` if no
/// representation is acceptable.
///
/// Ranges are tried by descending quality, those with wildcards after the others, otherwise in order. JSON and YAML
/// require the parameters `g`, `v` and `as` (group, version and kind); text must not have them.
pub(crate) fn negotiate(accept: &str, kind: &str) -> Option<Form> {
    if accept.trim().is_empty() {
        return Some(Form::Text);
    }
    let mut ranges: Vec<Range<'_>> = accept.split(',').map(Range::parse).collect();
    ranges.sort_by(|a, b| {
        let wild = |range: &Range<'_>| (range.media_type.starts_with('*'), range.media_type.ends_with('*'));
        b.quality().total_cmp(&a.quality()).then(wild(a).cmp(&wild(b)))
    });
    ranges.iter().find_map(|range| {
        let mut matching = MEDIA_TYPES.into_iter().filter(|media_type| range.matches(media_type));
        matching.find_map(|media_type| range.form(media_type, kind))
    })
}
