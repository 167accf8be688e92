//! Replays requests recorded between a Go kube-controller-manager or kubectl and a real server. Each request is sent in
//! the state that it needs, and must return the recorded status code.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::Config;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::TestApi;
use super::encoded;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const RECORDED: &str = include_str!("../../fixtures/client-go-requests.txt");

#[derive(Debug, Deserialize)]
struct Request {
    accept: String,
    client: String,
    #[serde(default)]
    content_type: String,
    #[serde(default)]
    body: String,
    method: String,
    path: String,
    status: u16,
}

/// Path of a resource or object, split into its parts.
struct Target<'a> {
    namespace: Option<&'a str>,
    collection: String,
    plural: &'a str,
    name: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Returns `None` for non-resource paths.
    fn of(path: &'a str) -> Option<Self> {
        let path = path.split('?').next().unwrap();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let (prefix, rest) = match segments.as_slice() {
            ["api", _, rest @ ..] => (&segments[..2], rest),
            ["apis", _, _, rest @ ..] => (&segments[..3], rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            rest => (None, rest),
        };
        let plural = *rest.first()?;
        let collection = match namespace {
            Some(namespace) => format!("/{}/namespaces/{namespace}/{plural}", prefix.join("/")),
            None => format!("/{}/{plural}", prefix.join("/")),
        };
        Some(Self { namespace, collection, plural, name: rest.get(1).copied() })
    }

    fn object(&self, name: &str) -> Value {
        let mut object = json!({"metadata": {"name": name}});
        match self.plural {
            "services" => object["spec"] = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]}),
            "pods" => object["spec"] = json!({"containers": [{"name": "c", "image": "app:1"}]}),
            "endpointslices" => object["addressType"] = json!("IPv4"),
            "events" => object["involvedObject"] = json!({"kind": "Pod", "name": "p", "namespace": self.namespace}),
            _ => {}
        }
        // The recorded patches modify this label.
        object["metadata"]["labels"] = json!({"x": "y"});
        object
    }
}

/// Creates or deletes an object as needed.
async fn ensure_presence(api: &TestApi, target: &Target<'_>, name: &str, exists: bool) {
    if let Some(namespace) = target.namespace
        && api.get(&format!("/api/v1/namespaces/{namespace}")).await.0 == 404
    {
        api.create("/api/v1/namespaces", json!({"metadata": {"name": namespace}})).await;
    }
    let path = format!("{}/{name}", target.collection);
    let exists_now = api.get(&path).await.0 == 200;
    if exists && !exists_now {
        api.create(&target.collection, target.object(name)).await;
    } else if !exists && exists_now {
        api.json(Method::DELETE, &format!("{path}?gracePeriodSeconds=0"), &Value::Null).await;
    }
}

/// Returns the body of a request: the recorded one with current versions, or a generated one where none was recorded.
async fn body(api: &TestApi, request: &Request, target: Option<&Target<'_>>) -> String {
    let Some(target) = target.filter(|_| !matches!(request.method.as_str(), "GET" | "DELETE")) else {
        return String::new();
    };
    let Some(name) = target.name else { return target.object("new").to_string() };
    if request.path.ends_with("/token") {
        return json!({"spec": {"expirationSeconds": 3600}}).to_string();
    }
    let (_, mut object) = api.get(&format!("{}/{name}", target.collection)).await;
    match request.content_type.as_str() {
        "application/apply-patch+yaml" => {
            json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"labels": {"b": "c"}}})
                .to_string()
        }
        _ if request.method == "PUT" => {
            object["metadata"]["annotations"] = json!({"n": "1"});
            object.to_string()
        }
        "application/json-patch+json" => {
            let mut operations: Value = serde_json::from_str(&request.body).unwrap();
            for operation in operations.as_array_mut().unwrap() {
                if operation["path"] == "/metadata/resourceVersion" {
                    operation["value"] = object["metadata"]["resourceVersion"].clone();
                }
            }
            operations.to_string()
        }
        _ => request.body.clone(),
    }
}

/// Returns the path of a request, with placeholders replaced by values of this server.
async fn address(api: &TestApi, request: &Request) -> String {
    let mut address = request.path.replace("/NS/", "/ns/").replace("/NAME", "/name");
    if let Some(at) = address.find("continue=") {
        for name in ["page-1", "page-2"] {
            let target = Target { name: None, ..Target::of("/api/v1/namespaces/kx/pods").unwrap() };
            ensure_presence(api, &target, name, true).await;
        }
        let (_, page) = api.get("/api/v1/pods?limit=1").await;
        let end = address[at..].find('&').map_or(address.len(), |end| at + end);
        address.replace_range(at + "continue=".len()..end, page["metadata"]["continue"].as_str().unwrap());
    }
    if address.contains("resourceVersion=RV") {
        let version = api.get("/api/v1/namespaces").await.1["metadata"]["resourceVersion"].clone();
        address = address.replace("resourceVersion=RV", &format!("resourceVersion={}", version.as_str().unwrap()));
    }
    address
}

/// Returns a generated protobuf body; protobuf bodies were not recorded.
fn encoded_body(request: &Request, target: &Target<'_>) -> Vec<u8> {
    match target.plural {
        "services" => encoded::service("new", 80),
        "selfsubjectaccessreviews" => encoded::self_access_review("list", "pods"),
        plural => panic!("no body for {} of {plural}", request.client),
    }
}

#[tokio::test]
async fn recorded_requests_get_the_status_of_a_real_server() {
    let api = TestApi::start(Config::default()).await;
    let mut mismatches = Vec::new();
    for line in RECORDED.lines() {
        let request: Request = serde_json::from_str(line).unwrap();
        let address = address(&api, &request).await;
        let target = Target::of(&address);
        let served = match &target {
            Some(target) => !api.get(&target.collection).await.1["reason"].is_string(),
            None => false,
        };
        if let Some(target) = target.as_ref().filter(|_| served) {
            let create = request.method == "POST" && target.name.is_none();
            if let Some(name) = target.name.or(create.then_some("new")) {
                ensure_presence(&api, target, name, request.status != 404 && !create).await;
            }
        }
        let body = match &target {
            Some(target) if request.content_type == PROTOBUF => encoded_body(&request, target),
            _ => body(&api, &request, target.as_ref().filter(|_| served)).await.into_bytes(),
        };
        let method = request.method.parse().unwrap();
        let response = api.send_as(method, &address, &request.content_type, &request.accept, body).await;
        let found = response.status().as_u16();
        if found != request.status {
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            mismatches.push(format!("{} {address} ({}): {found} {bytes:?}", request.method, request.client));
        }
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    eprintln!("{} requests replayed", RECORDED.lines().count());
}
