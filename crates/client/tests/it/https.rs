//! HTTP/2 over TLS: one connection for watches, one for all other requests.

use std::collections::BTreeSet;

use display_full_error::DisplayFullErrorExt as _;
use futures::future::join_all;
use http::{
    Request, Version,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Encoding, ListParams, WatchParams};
use rstest::rstest;

use crate::{
    cluster::PODS,
    tls::{serve, serve_as_authority},
};

#[rstest]
#[case::http2(&["h2", "http/1.1"], Version::HTTP_2)]
#[case::http1(&["http/1.1"], Version::HTTP_11)]
#[case::no_alpn(&[], Version::HTTP_11)]
#[tokio::test]
async fn http_version_is_negotiated_with_alpn(#[case] alpn: &[&str], #[case] expect: Version) {
    let server = serve(alpn).await;
    let client = server.client().await;
    client.get_json("/version").await.unwrap();
    let requests = server.requests.lock().unwrap();
    let (_, version, request) = &requests[0];
    assert_eq!((*version, request.uri().path()), (expect, "/version"));
    assert_eq!(request.headers()[AUTHORIZATION], "Bearer a-token");
    assert_eq!(request.headers()["user-agent"], "test/1.0");
}

#[tokio::test]
async fn watches_share_one_connection_and_other_requests_another() {
    let server = serve(&["h2"]).await;
    let client = server.client().await;
    let params = WatchParams::default();
    // Concurrently, as informers start: no connection is open yet.
    let watches = join_all((0..5).map(|_| client.watch(&PODS, None, &params))).await;
    let _watches: Vec<_> = watches.into_iter().map(Result::unwrap).collect();
    for result in join_all((0..50).map(|_| client.get_json("/version"))).await {
        result.unwrap();
    }
    let requests = server.requests.lock().unwrap();
    let connections = |watch: bool| -> BTreeSet<u32> {
        requests
            .iter()
            .filter(|(.., request)| request.uri().query().is_some() == watch)
            .map(|(number, ..)| *number)
            .collect()
    };
    assert_eq!((connections(true).len(), connections(false).len()), (1, 1));
    assert!(connections(true).is_disjoint(&connections(false)));
}

#[tokio::test]
async fn protobuf_is_accepted_in_streams_and_never_sent() {
    let server = serve(&["h2"]).await;
    let client = server.client().await;
    let accept = Encoding::Protobuf.into();
    let list = ListParams { accept, ..ListParams::default() };
    let body = client.list_chunks(&PODS, None, &list).await.unwrap();
    assert_eq!(body.encoding(), Encoding::Json, "default without a Content-Type header");
    let _watch = client.watch(&PODS, None, &WatchParams { accept, ..WatchParams::default() }).await.unwrap();
    // `list` requests JSON whatever `accept` is.
    client.list(&PODS, None, &list).await.unwrap();
    let metadata = ObjectMeta { namespace: Some("a".to_owned()), name: Some("b".to_owned()), ..ObjectMeta::default() };
    let written = client.create(&ConfigMap { metadata, ..ConfigMap::default() }).await;
    assert!(written.is_err(), "an empty object is not a valid response to a write");

    let requests = server.requests.lock().unwrap();
    let header = |request: &Request<()>, name| request.headers().get(name).map(|it| it.to_str().unwrap().to_owned());
    let sent: Vec<_> = requests
        .iter()
        .map(|(.., request)| (header(request, ACCEPT).unwrap(), header(request, CONTENT_TYPE)))
        .collect();
    let (json, either) = ("application/json", "application/vnd.kubernetes.protobuf,application/json");
    let expect = [(either, None), (either, None), (json, None), (json, Some(json))];
    assert_eq!(sent, expect.map(|(accept, body)| (accept.to_owned(), body.map(str::to_owned))));
}

#[tokio::test]
async fn certificate_of_another_authority_is_rejected() {
    let (mut server, other) = (serve(&["h2"]).await, serve(&["h2"]).await);
    server.url.clone_from(&other.url);
    let error = server.client().await.get_json("/version").await.unwrap_err().to_string_full();
    assert!(error.starts_with("get /version: ") && error.contains("certificate"), "{error}");
}

#[tokio::test]
async fn certificate_that_is_its_own_authority_is_explained() {
    let server = serve_as_authority().await;
    let client = server.client().await;
    let error = client.get_json("/version").await.unwrap_err();
    let text = error.to_string_full();
    assert!(
        text.contains(
            "the certificate of the server is a certificate authority (CA:TRUE) and is not accepted as a server \
             certificate: issue one with CA:FALSE"
        ),
        "{text}"
    );
    assert!(text.contains("CaUsedAsEndEntity") && error.is_unreachable(), "{text}");
}
