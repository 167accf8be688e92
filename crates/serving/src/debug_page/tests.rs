use http::header::{CONTENT_TYPE, WARNING};
use http_body_util::BodyExt as _;
use rstest::rstest;

use super::*;

/// Status, content type, warning and body.
async fn get_page(accept: &str, kind: &str) -> (u16, String, Option<String>, String) {
    let fields = Map::from_iter([("flags".to_owned(), json!({"v": "0"}))]);
    let response = DebugPage { component: "example", kind, fields, text: "v=0\n".to_owned() }.respond(accept);
    let header = |name| response.headers().get(name).map(|value| value.to_str().expect("ASCII").to_owned());
    let (code, content_type, warning) = (response.status().as_u16(), header(CONTENT_TYPE), header(WARNING));
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (code, content_type.expect("a type"), warning, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const TEXT: &str = "text/plain; charset=utf-8";

// upstream: TestKubeControllerManagerServingZPages (test/integration/serving); `Page` is replaced by the kind
#[rstest]
#[case::text("text/plain", TEXT, None)]
#[case::text_with_charset("text/plain; charset=utf-8", TEXT, None)]
#[case::no_header("", TEXT, None)]
#[case::wildcard("*/*", TEXT, None)]
#[case::json("application/json;v=v1beta1;g=config.k8s.io;as=Page", JSON, Some("v1beta1"))]
#[case::yaml("application/yaml;v=v1beta1;g=config.k8s.io;as=Page", YAML, Some("v1beta1"))]
#[case::spaces("application/yaml; v=v1beta1; g=config.k8s.io; as=Page; q=0.8", YAML, Some("v1beta1"))]
#[case::any_structured("application/*;v=v1beta1;g=config.k8s.io;as=Page", JSON, Some("v1beta1"))]
#[case::old_json("application/json;v=v1alpha1;g=config.k8s.io;as=Page", JSON, Some("v1alpha1"))]
#[case::old_yaml("application/yaml;v=v1alpha1;g=config.k8s.io;as=Page", YAML, Some("v1alpha1"))]
#[case::alpha_before_beta(
    "application/json;v=v1alpha1;g=config.k8s.io;as=Page,application/json;v=v1beta1;g=config.k8s.io;as=Page",
    JSON,
    Some("v1alpha1")
)]
#[case::beta_before_alpha(
    "application/json;v=v1beta1;g=config.k8s.io;as=Page,application/json;v=v1alpha1;g=config.k8s.io;as=Page",
    JSON,
    Some("v1beta1")
)]
#[case::by_quality("text/plain;q=0.5,application/yaml;v=v1beta1;g=config.k8s.io;as=Page;q=0.9", YAML, Some("v1beta1"))]
#[case::wildcards_last("*/*,application/json;v=v1beta1;g=config.k8s.io;as=Page", JSON, Some("v1beta1"))]
#[case::json_in_another_order("application/json;as=Page;v=v1beta1;g=config.k8s.io", JSON, Some("v1beta1"))]
#[case::falls_back("application/json, */*", TEXT, None)]
#[case::bad_version_and_wildcard("application/json;v=foo;g=config.k8s.io;as=Page,*/*", TEXT, None)]
#[tokio::test]
async fn accept_header_selects_the_representation(
    #[case] accept: &str,
    #[case] content_type: &str,
    #[case] version: Option<&str>,
) {
    for kind in ["Flagz", "Statusz"] {
        let (code, found, warning, body) = get_page(&accept.replace("Page", kind), kind).await;
        assert_eq!((code, found.as_str()), (200, content_type), "{kind}");
        let page = kind.to_ascii_lowercase();
        let deprecated =
            format!(r#"299 - "This version of the {page} endpoint is deprecated. Please use a newer version.""#);
        assert_eq!(warning, (version == Some("v1alpha1")).then_some(deprecated), "{kind}");
        let document: Value = match content_type {
            JSON => serde_json::from_str(&body).expect("JSON"),
            YAML => serde_saphyr::from_str(&body).expect("YAML"),
            _ => {
                let start = format!("\nexample {page}\nWarning: This endpoint is not meant to be");
                assert!(body.starts_with(&start) && body.ends_with(".\n\nv=0\n"), "{body}");
                continue;
            }
        };
        assert_eq!(document["kind"], kind);
        assert_eq!(document["apiVersion"], format!("config.k8s.io/{}", version.expect("structured")));
        assert_eq!(document["metadata"], json!({"name": "example"}));
        assert_eq!(document["flags"], json!({"v": "0"}));
    }
}

#[rstest]
#[case::unknown("application/xml")]
#[case::no_media_type("some header")]
#[case::json_without_parameters("application/json")]
#[case::yaml_without_parameters("application/yaml")]
#[case::without_kind("application/json;v=v1beta1;g=config.k8s.io")]
#[case::of_another_kind("application/json;v=v1beta1;g=config.k8s.io;as=Other")]
#[case::of_no_version("application/yaml;g=config.k8s.io;as=Flagz")]
#[case::text_with_kind("text/plain;v=v1beta1;g=config.k8s.io;as=Flagz")]
#[case::stream("application/json;v=v1beta1;g=config.k8s.io;as=Flagz;stream=watch")]
// Upstream accepts it with the gate CBORServingAndStorage only, which is off by default.
#[case::cbor("application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz")]
#[tokio::test]
async fn unacceptable_accept_header_is_answered_with_406(#[case] accept: &str) {
    let (code, content_type, _, body) = get_page(accept, "Flagz").await;
    assert_eq!((code, content_type.as_str()), (406, JSON));
    let message = "only the following media types are accepted: application/json, application/yaml, text/plain";
    assert!(body.contains(message), "{body}");
}
