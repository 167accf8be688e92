//! What a client wants to be answered with.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::protobuf;

/// One alternative of an `Accept` header: `application/json;as=Table;v=v1;g=meta.k8s.io`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wanted<'a> {
    pub(super) media_type: &'a str,
    /// The kind that an object or list is to be turned into.
    pub(super) kind: &'a str,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
}

impl Wanted<'_> {
    /// Whether JSON answers it.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.media_type, "application/json" | "application/*" | "*/*")
    }
}

/// The alternatives in the order in which they stand, which is that of preference for every Kubernetes client.
pub(super) fn wanted(headers: &HeaderMap) -> Vec<Wanted<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|alternative| {
            let mut parts = alternative.split(';').map(str::trim);
            let mut wanted = Wanted { media_type: parts.next().unwrap_or_default(), ..Wanted::default() };
            for (name, value) in parts.filter_map(|part| part.split_once('=')) {
                match name {
                    "as" => wanted.kind = value,
                    "g" => wanted.group = value,
                    "v" => wanted.version = value,
                    _ => {}
                }
            }
            wanted
        })
        .collect()
}

/// What an object, list or watch event is turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Itself.
    Whole,
    /// A `Table`, as kubectl prints it.
    Table,
    /// A `PartialObjectMetadata`.
    Metadata,
    /// Itself, in protobuf.
    Protobuf,
}

/// Whether protobuf is asked for before any JSON that this server has.
pub(super) fn prefers_protobuf(headers: &HeaderMap) -> bool {
    let whole = |wanted: &Wanted<'_>| wanted.kind.is_empty() && wanted.media_type == protobuf::MEDIA_TYPE;
    wanted(headers).iter().find(|it| whole(it) || json_form(it).is_some()).is_some_and(whole)
}

/// The first form asked for that this server has; the object itself when nothing else fits.
pub(super) fn form(headers: &HeaderMap) -> Form {
    wanted(headers).iter().find_map(json_form).unwrap_or(Form::Whole)
}

fn json_form(wanted: &Wanted<'_>) -> Option<Form> {
    match (wanted.kind, wanted.group, wanted.version) {
        _ if !wanted.is_json() => None,
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
    fn forms(#[case] accept: &str, #[case] expect: Form) {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
        assert_eq!(form(&headers), expect);
    }

    #[rstest]
    #[case("application/vnd.kubernetes.protobuf,application/json", true)]
    #[case("application/vnd.kubernetes.protobuf;stream=watch", true)]
    #[case("application/json,application/vnd.kubernetes.protobuf", false)]
    #[case("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", false)]
    #[case("*/*", false)]
    #[case("", false)]
    fn protobuf_first(#[case] accept: &str, #[case] expect: bool) {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
        assert_eq!(prefers_protobuf(&headers), expect);
    }
}
