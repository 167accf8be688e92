//! Over TLS the client speaks HTTP/2: one connection for watches, one for everything else.

use std::{
    collections::BTreeSet,
    path::Path,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, future::join_all, stream};
use http::{Request, Response, Version, header::AUTHORIZATION};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use kube_controller_client::{Body, Client, ClientOptions, Config, Resource, WatchParams};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rstest::rstest;
use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// What the server saw: the number of the connection, the version of HTTP, and the request.
type Seen = Arc<Mutex<Vec<(u32, Version, Request<()>)>>>;
/// What each watch brings, in the order in which they were opened.
type Feeds = Arc<Mutex<Vec<mpsc::UnboundedSender<Bytes>>>>;

struct Tls {
    url: String,
    certificate: String,
    seen: Seen,
    feeds: Feeds,
    /// Tells the client of every connection that it takes no further requests.
    goodbye: watch::Sender<()>,
    _tasks: JoinSet<()>,
}

impl Tls {
    fn bring(&self, watch: usize, bytes: impl Into<Bytes>) {
        self.feeds.lock().expect("no panic before")[watch].send(bytes.into()).expect("an open watch");
    }

    /// The connection of the newest request.
    fn newest(&self) -> u32 {
        self.seen.lock().expect("no panic before").last().expect("a request").0
    }
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
    let (seen, feeds, goodbye) = (Seen::default(), Feeds::default(), watch::Sender::new(()));
    let (all, of_watches, leave) = (seen.clone(), feeds.clone(), goodbye.subscribe());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let connections = AtomicU32::new(0);
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let (acceptor, all, feeds, mut leave) = (acceptor.clone(), all.clone(), of_watches.clone(), leave.clone());
            serving.spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = service_fn(move |request| answer(number, request, all.clone(), feeds.clone()));
                let builder = auto::Builder::new(TokioExecutor::new());
                let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
                // A client that goes away is its own business.
                let _ = tokio::select! {
                    ended = connection.as_mut() => ended,
                    _ = leave.changed() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                };
            });
        }
    });
    Tls { url, certificate: cert.pem(), seen, feeds, goodbye, _tasks: tasks }
}

async fn answer(
    connection: u32,
    request: Request<Incoming>,
    seen: Seen,
    feeds: Feeds,
) -> Result<Response<BoxBody<Bytes, std::io::Error>>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let watch = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    seen.lock().expect("no panic before").push((connection, parts.version, Request::from_parts(parts, ())));
    body.collect().await.map_err(std::io::Error::other)?;
    let body = if watch {
        let (feed, fed) = mpsc::unbounded_channel();
        feeds.lock().expect("no panic before").push(feed);
        let next = |mut fed: mpsc::UnboundedReceiver<Bytes>| async { Some((Ok(Frame::data(fed.recv().await?)), fed)) };
        BodyExt::boxed(StreamBody::new(Box::pin(stream::unfold(fed, next))))
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

async fn next(watch: &mut Body) -> Bytes {
    timeout(Duration::from_secs(30), watch.next()).await.expect("in time").expect("an open watch").expect("bytes")
}

/// A GOAWAY: what is open goes on, what is new goes elsewhere.
#[tokio::test]
async fn a_server_that_leaves_loses_nothing_and_is_dialled_again() {
    let server = serve(&["h2"]).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let mut first = client.watch(&pods, None, &WatchParams::default()).await.unwrap();
    let connection = server.newest();
    server.bring(0, "before");
    assert_eq!(next(&mut first).await, "before");
    server.goodbye.send_replace(());
    // Until the client has heard of it, requests still go to the old connection, and are served there.
    let redialled = async {
        while server.newest() == connection {
            client.watch(&pods, None, &WatchParams::default()).await.unwrap();
        }
    };
    timeout(Duration::from_secs(30), redialled).await.expect("another connection");
    server.bring(0, "after");
    assert_eq!(next(&mut first).await, "after");
}

#[tokio::test]
async fn a_watch_that_nobody_reads_stalls_no_other() {
    const MUCH: usize = 8 << 20;
    let server = serve(&["h2"]).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let slow = client.watch(&pods, None, &WatchParams::default()).await.unwrap();
    let mut quick = client.watch(&pods, None, &WatchParams::default()).await.unwrap();
    server.bring(0, vec![b'x'; MUCH]);
    for _ in 0..10 {
        server.bring(1, "event");
        assert_eq!(next(&mut quick).await, "event");
    }
    let read = async {
        let mut slow = slow.map_ok(|bytes| bytes.len());
        let mut bytes = 0;
        while bytes < MUCH {
            bytes += slow.try_next().await.unwrap().expect("an open watch");
        }
    };
    timeout(Duration::from_secs(30), read).await.expect("all that was sent");
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let (server, other) = (serve(&["h2"]).await, serve(&["h2"]).await);
    let directory = tempfile::tempdir().unwrap();
    let impostor = Tls { url: other.url.clone(), ..server };
    let error = client(directory.path(), &impostor).await.get_json("/version").await.unwrap_err().to_string();
    assert!(error.starts_with("get /version: ") && error.contains("certificate"), "{error}");
}
