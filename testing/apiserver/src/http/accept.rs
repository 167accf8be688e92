//! Content negotiation: parses `Accept` headers and selects the form of the response.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::protobuf;

/// One media range of an `Accept` header, such as `application/json;as=Table;v=v1;g=meta.k8s.io`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MediaRange<'a> {
    pub(super) media_type: &'a str,
    /// Value of the `as` parameter: the kind that an object or list is converted to. Empty for no conversion.
    pub(super) kind: &'a str,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    /// Value of the `drop` parameter: fields to leave out, separated by `+`.
    pub(super) drop: &'a str,
}

impl MediaRange<'_> {
    /// Returns `true` if the media type matches JSON.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.media_type, "application/json" | "application/*" | "*/*")
    }

    /// Returns `true` if the response is to have no `metadata.managedFields`. Other fields to leave out are ignored, as by
    /// upstream.
    pub(super) fn drops_managed_fields(&self) -> bool {
        self.drop.split('+').any(|field| field == "metadata.managedFields")
    }
}

/// Parses the `Accept` headers into media ranges, in their order, which Kubernetes clients use instead of `q`.
pub(super) fn media_ranges(headers: &HeaderMap) -> Vec<MediaRange<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|alternative| {
            let mut parts = alternative.split(';').map(str::trim);
            let mut range = MediaRange { media_type: parts.next().unwrap_or_default(), ..MediaRange::default() };
            for (name, value) in parts.filter_map(|part| part.split_once('=')) {
                match name {
                    "as" => range.kind = value,
                    "g" => range.group = value,
                    "v" => range.version = value,
                    "drop" => range.drop = value,
                    _ => {}
                }
            }
            range
        })
        .collect()
}

/// Form in which objects, lists and watch events are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The object itself, in JSON.
    Whole,
    /// A `meta.k8s.io/v1` `Table`, as printed by kubectl.
    Table,
    /// A `meta.k8s.io/v1` `PartialObjectMetadata`.
    Metadata,
    /// The object itself, in protobuf.
    Protobuf,
}

/// Returns the media range of unconverted protobuf, if it precedes every JSON form that this server supports.
pub(super) fn protobuf_range(headers: &HeaderMap) -> Option<MediaRange<'_>> {
    let whole = |range: &MediaRange<'_>| range.kind.is_empty() && range.media_type == protobuf::MEDIA_TYPE;
    media_ranges(headers).into_iter().find(|it| whole(it) || json_form(it).is_some()).filter(whole)
}

/// Returns `true` if unconverted protobuf precedes every JSON form that this server supports.
pub(super) fn prefers_protobuf(headers: &HeaderMap) -> bool {
    protobuf_range(headers).is_some()
}

/// Returns the first supported JSON form, with its media range; [`Form::Whole`] if no media range matches.
pub(super) fn form(headers: &HeaderMap) -> (Form, MediaRange<'_>) {
    let supported = media_ranges(headers).into_iter().find_map(|range| Some((json_form(&range)?, range)));
    supported.unwrap_or((Form::Whole, MediaRange::default()))
}

fn json_form(range: &MediaRange<'_>) -> Option<Form> {
    match (range.kind, range.group, range.version) {
        _ if !range.is_json() => None,
        ("", ..) => Some(Form::Whole),
        ("Table", "meta.k8s.io", "v1") => Some(Form::Table),
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => Some(Form::Metadata),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", Form::Whole)]
    #[case("application/json, */*", Form::Whole)]
    #[case(
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
        Form::Table
    )]
    #[case("application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", Form::Whole)]
    #[case(
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        Form::Metadata
    )]
    fn accept_header_selects_the_form(#[case] accept: &str, #[case] expect: Form) {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
        assert_eq!(form(&headers).0, expect);
    }

    #[rstest]
    #[case("application/json;drop=metadata.managedFields", true)]
    #[case("application/json; drop=metadata.annotations+metadata.managedFields", true)]
    #[case("application/json;drop=metadata.annotations", false)]
    #[case("application/yaml;drop=metadata.managedFields,application/json", false)]
    #[case("application/json;drop=", false)]
    fn managed_fields_are_dropped_if_the_chosen_range_says_so(#[case] accept: &str, #[case] expect: bool) {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
        assert_eq!(form(&headers).1.drops_managed_fields(), expect);
    }
}
