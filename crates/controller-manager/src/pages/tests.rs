use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::*;

async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.to_vec()).expect("UTF-8")
}

fn pages() -> Pages {
    let flags = [("controllers", "*"), ("leader-elect", "true"), ("v", "0")];
    Pages::new(flags.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
}

#[tokio::test]
async fn pages_have_the_same_contents_as_text_and_as_json() {
    let pages = pages();
    let found = text(pages.flagz("")).await;
    assert!(found.starts_with("\nendpoint-controller-manager flagz\nWarning: "), "{found}");
    assert!(found.ends_with("only.\n\ncontrollers=*\nleader-elect=true\nv=0\n"), "{found}");
    let found = text(pages.flagz("application/json;g=config.k8s.io;v=v1beta1;as=Flagz")).await;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["flags"], json!({"controllers": "*", "leader-elect": "true", "v": "0"}));

    let found = text(pages.statusz("")).await;
    assert!(found.starts_with("\nendpoint-controller-manager statusz\nWarning: "), "{found}");
    assert!(found.contains("\nUp: 0 hr 00 min 0") && found.contains("\nPaths: /configz /flagz /healthz"), "{found}");
    let found = text(pages.statusz("application/json;g=config.k8s.io;v=v1beta1;as=Statusz")).await;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!((&found["metadata"], &found["paths"]), (&json!({"name": "endpoint-controller-manager"}), &json!(PATHS)));
}
