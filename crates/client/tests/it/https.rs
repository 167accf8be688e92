//! Over TLS the client speaks HTTP/2: one connection for watches, one for everything else.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, Response, Version, header::AUTHORIZATION};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use kube_controller_client::{Client, ClientOptions, Config, Resource, WatchParams};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rstest::rstest;
use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_rustls::TlsAcceptor;

/// What the server saw: the number of the connection, the version of HTTP, and the request.
type Seen = Arc<Mutex<Vec<(u32, Version, Request<()>)>>>;

struct Tls {
    url: String,
    certificate: String,
    seen: Seen,
    _tasks: JoinSet<()>,
}

/// A server that answers everything with an empty object, and leaves watches open.
async fn serve(alpn: &[&str]) -> Tls {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key))
        .expect("a TLS configuration");
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("https://localhost:{}", listener.local_addr().expect("bound").port());
    let seen = Seen::default();
    let all = seen.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let connections = AtomicU32::new(0);
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let (acceptor, all) = (acceptor.clone(), all.clone());
            serving.spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = service_fn(move |request| answer(number, request, all.clone()));
                // A client that goes away is its own business.
                let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Tls { url, certificate: cert.pem(), seen, _tasks: tasks }
}

async fn answer(
    connection: u32,
    request: Request<Incoming>,
    seen: Seen,
) -> Result<Response<BoxBody<Bytes, std::io::Error>>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let watch = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    seen.lock().expect("no panic before").push((connection, parts.version, Request::from_parts(parts, ())));
    body.collect().await.map_err(std::io::Error::other)?;
    let body = if watch {
        StreamBody::new(futures::stream::pending::<Result<Frame<Bytes>, std::io::Error>>()).boxed()
    } else {
        Full::new(Bytes::from_static(b"{}")).map_err(|never| match never {}).boxed()
    };
    Ok(Response::new(body))
}

/// A client as a kubeconfig describes it, with the server's own certificate as authority.
async fn client(directory: &Path, server: &Tls) -> Client {
    let authority = directory.join("ca.crt");
    std::fs::write(&authority, &server.certificate).expect("written");
    let kubeconfig = format!(
        "
apiVersion: v1
kind: Config
current-context: dev
contexts: [{{name: dev, context: {{cluster: dev, user: dev}}}}]
clusters: [{{name: dev, cluster: {{server: '{}', certificate-authority: {}}}}}]
users: [{{name: dev, user: {{token: a-token}}}}]
",
        server.url,
        authority.display(),
    );
    let path = directory.join("admin.conf");
    std::fs::write(&path, kubeconfig).expect("written");
    let config = Config::from_kubeconfig(&path).await.expect("a good kubeconfig");
    let options = ClientOptions { user_agent: "test/1.0".to_owned(), qps: 0.0, ..ClientOptions::default() };
    Client::new(&config, options).expect("a client")
}

#[rstest]
#[case::http2(&["h2", "http/1.1"], Version::HTTP_2)]
#[case::http1(&["http/1.1"], Version::HTTP_11)]
#[case::no_alpn(&[], Version::HTTP_11)]
#[tokio::test]
async fn speaks_what_the_server_offers(#[case] alpn: &[&str], #[case] expect: Version) {
    let server = serve(alpn).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    client.get_json("/version").await.unwrap();
    let seen = server.seen.lock().unwrap();
    let (_, version, request) = &seen[0];
    assert_eq!((*version, request.uri().path()), (expect, "/version"));
    assert_eq!(request.headers()[AUTHORIZATION], "Bearer a-token");
    assert_eq!(request.headers()["user-agent"], "test/1.0");
}

#[tokio::test]
async fn watches_share_one_connection_and_everything_else_another() {
    let server = serve(&["h2"]).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let params = WatchParams::default();
    // All at once, as informers start: none finds a connection ready.
    let watches = join_all((0..5).map(|_| client.watch(&pods, None, &params))).await;
    let _watches: Vec<_> = watches.into_iter().map(Result::unwrap).collect();
    for result in join_all((0..50).map(|_| client.get_json("/version"))).await {
        result.unwrap();
    }
    let seen = server.seen.lock().unwrap();
    let connections = |watch: bool| -> BTreeSet<u32> {
        seen.iter()
            .filter(|(.., request)| request.uri().query().is_some() == watch)
            .map(|(number, ..)| *number)
            .collect()
    };
    assert_eq!((connections(true).len(), connections(false).len()), (1, 1));
    assert!(connections(true).is_disjoint(&connections(false)));
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let (server, other) = (serve(&["h2"]).await, serve(&["h2"]).await);
    let directory = tempfile::tempdir().unwrap();
    let impostor = Tls { url: other.url.clone(), ..server };
    let error = client(directory.path(), &impostor).await.get_json("/version").await.unwrap_err().to_string();
    assert!(error.starts_with("get /version: ") && error.contains("certificate"), "{error}");
}
