//! Writes in protobuf, and in JSON to servers that do not accept it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use kube_controller_client::{Client, ClientOptions, Config, Error};
use kube_wire::protobuf::{Envelope, Fields, Writer, enveloped};
use kube_wire::{Decode, DecodeError, Encode, Encoding, Object, ObjectHead, Resource};
use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower::service_fn;

/// A type with a protobuf encoder.
#[derive(Debug, Deserialize)]
struct Note {
    metadata: ObjectHead,
}

kube_wire::object!(Note);

impl Decode for Note {
    const RESOURCE: Resource = Resource::namespaced("", "v1", "notes", "Note");
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        kube_wire::json::from_slice("Note", bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        let metadata = ObjectHead::from_fields(Fields::new(bytes)).map_err(|error| error.reading("Note"))?;
        Ok(Note { metadata })
    }
}

impl Serialize for Note {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({"metadata": {"name": self.metadata.name.as_str()}}).serialize(serializer)
    }
}

impl Encode for Note {
    fn to_protobuf(&self, message: &mut Writer) -> bool {
        message.text(1, &self.metadata.name);
        message.display(6, &self.metadata.resource_version);
        true
    }
}

fn note(version: u64) -> Note {
    let metadata = ObjectHead {
        name: "web".into(),
        namespace: "shop".into(),
        resource_version: version.into(),
        ..Default::default()
    };
    Note { metadata }
}

/// How the server answers.
#[derive(Debug, Clone, Copy)]
enum Server {
    Protobuf,
    /// Reads protobuf, answers in JSON.
    JsonResponses,
    /// 415 for protobuf.
    JsonOnly,
    OtherKind,
    OtherVersion,
    Malformed,
}

const PROTOBUF: &str = Encoding::Protobuf.media_type();
const JSON: &str = Encoding::Json.media_type();

type Requests = Arc<Mutex<Vec<(Method, String)>>>;

/// Returns a client of such a server, and the requests that the server gets.
fn client(server: Server, options: ClientOptions) -> (Client, Requests) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let service = service_fn(move |request: Request<Full<Bytes>>| {
        let content_type = request.headers()[CONTENT_TYPE].to_str().expect("text").to_owned();
        log.lock().expect("not poisoned").push((request.method().clone(), content_type.clone()));
        async move {
            let body = request.into_body().collect().await.expect("a body in memory").to_bytes();
            let (code, media_type, body) = match (server, &*content_type) {
                (Server::JsonOnly, PROTOBUF) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, JSON, Vec::new()),
                (Server::JsonResponses, _) | (_, JSON) => {
                    let name = match Envelope::open(&body) {
                        Ok(envelope) => Note::from_protobuf(envelope.object),
                        Err(_) => Note::from_json(&body),
                    };
                    let name = name.expect("a note").metadata.name.to_string();
                    let stored = json!({"metadata": {"name": name, "resourceVersion": "7"}});
                    (StatusCode::OK, JSON, stored.to_string().into_bytes())
                }
                (Server::Malformed, _) => (StatusCode::OK, PROTOBUF, b"k8s\0\x0a".to_vec()),
                (server, _) => {
                    let envelope = Envelope::open(&body).expect("an envelope");
                    assert_eq!((envelope.kind, envelope.api_version), ("Note", "v1"));
                    let mut stored = Writer::default();
                    Note::from_protobuf(envelope.object).expect("a note");
                    note(7).to_protobuf(&mut stored);
                    let mut resource = Note::RESOURCE;
                    match server {
                        Server::OtherKind => resource.kind = "Memo",
                        Server::OtherVersion => resource.version = "v2",
                        _ => {}
                    }
                    (StatusCode::OK, PROTOBUF, enveloped(&resource, stored.as_bytes()))
                }
            };
            let response = Response::builder().status(code).header(CONTENT_TYPE, media_type);
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).expect("a response"))
        }
    });
    (Client::new(&Config::from_service(service), options).expect("a client"), requests)
}

#[rstest]
#[case::protobuf(Server::Protobuf, Encoding::Protobuf, &[PROTOBUF, PROTOBUF])]
#[case::json_responses(Server::JsonResponses, Encoding::Protobuf, &[PROTOBUF, PROTOBUF])]
#[case::falls_back_once(Server::JsonOnly, Encoding::Protobuf, &[PROTOBUF, JSON, JSON])]
#[case::json_requested(Server::Protobuf, Encoding::Json, &[JSON, JSON])]
#[tokio::test]
async fn writes_are_sent_in_an_encoding_that_the_server_accepts(
    #[case] server: Server,
    #[case] content_type: Encoding,
    #[case] expect: &[&str],
) {
    let (client, requests) = client(server, ClientOptions { content_type, ..ClientOptions::default() });
    for stored in [client.create(&note(0)).await, client.update(&note(6)).await] {
        let stored = stored.expect("the server accepts the write");
        assert_eq!((stored.name(), stored.resource_version()), ("web", 7.into()));
    }
    let requests = requests.lock().unwrap();
    assert_eq!(requests.iter().map(|(_, media_type)| media_type.as_str()).collect::<Vec<_>>(), expect);
    assert_eq!(requests.first().map(|it| &it.0), Some(&Method::POST));
    assert_eq!(requests.last().map(|it| &it.0), Some(&Method::PUT));
}

#[rstest]
#[case::kind(Server::OtherKind, "cannot decode Note: the server sent Memo")]
#[case::version(Server::OtherVersion, "cannot decode Note of v1: the server sent Note of v2")]
#[case::malformed(Server::Malformed, "cannot decode Note: field 1: unexpected end of message")]
#[tokio::test]
async fn response_of_another_kind_is_invalid(#[case] server: Server, #[case] expect: &str) {
    let (client, _) = client(server, ClientOptions::default());
    match client.update(&note(6)).await {
        Err(Error::InvalidResponse { source, .. }) => assert_eq!(source.to_string(), expect),
        other => panic!("{other:?}"),
    }
}
