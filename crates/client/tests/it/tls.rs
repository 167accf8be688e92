//! A server with TLS, whose connections do what a test asks of them.

use std::{
    fs,
    path::Path,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use kube_controller_client::{Client, ClientOptions, Config, Timeouts};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// What the server saw: the number of the connection, the version of HTTP, and the request.
type Seen = Arc<Mutex<Vec<(u32, Version, Request<()>)>>>;
pub(crate) type Body = BoxBody<Bytes, std::io::Error>;
type Watches = Arc<dyn Fn() -> Body + Send + Sync>;

pub(crate) struct Tls {
    pub(crate) url: String,
    certificate: String,
    pub(crate) seen: Seen,
    /// What becomes of the connections that are open now.
    pub(crate) fate: watch::Sender<Fate>,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Serve,
    /// Takes no more requests and says so (GOAWAY).
    Retire,
    /// Neither reads nor writes any more, and does not end.
    Freeze,
}

/// A server that answers everything with an empty object, and leaves watches open.
pub(crate) async fn serve(alpn: &[&str]) -> Tls {
    serve_watches(alpn, || stream(futures::stream::pending())).await
}

pub(crate) fn stream(chunks: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Body {
    BodyExt::boxed(StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))))
}

/// A server that answers watches with these bodies, and everything else with an empty object.
pub(crate) async fn serve_watches(alpn: &[&str], watches: impl Fn() -> Body + Send + Sync + 'static) -> Tls {
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
    let (seen, watches): (_, Watches) = (Seen::default(), Arc::new(watches));
    let (fate, decided) = watch::channel(Fate::Serve);
    let all = seen.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let connections = AtomicU32::new(0);
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let mut fate = decided.clone();
            // What was decided before does not concern this one.
            fate.mark_unchanged();
            serving.spawn(connection(number, stream, acceptor.clone(), all.clone(), watches.clone(), fate));
        }
    });
    Tls { url, certificate: cert.pem(), seen, fate, _tasks: tasks }
}

async fn connection(
    number: u32,
    stream: TcpStream,
    acceptor: TlsAcceptor,
    seen: Seen,
    watches: Watches,
    mut fate: watch::Receiver<Fate>,
) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = service_fn(move |request| answer(number, request, seen.clone(), watches.clone()));
    let builder = auto::Builder::new(TokioExecutor::new());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // A client that goes away is its own business.
        _ = connection.as_mut() => return,
        Ok(()) = fate.changed() => {}
    }
    if *fate.borrow() == Fate::Freeze {
        std::future::pending::<()>().await;
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

async fn answer(
    connection: u32,
    request: Request<Incoming>,
    seen: Seen,
    watches: Watches,
) -> Result<Response<Body>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let watch = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    seen.lock().expect("no panic before").push((connection, parts.version, Request::from_parts(parts, ())));
    BodyExt::collect(body).await.map_err(std::io::Error::other)?;
    let object = || BodyExt::boxed(Full::new(Bytes::from_static(b"{}")).map_err(|never| match never {}));
    Ok(Response::new(if watch { watches() } else { object() }))
}

/// A client as a kubeconfig describes it, with the server's own certificate as authority.
pub(crate) async fn client(directory: &Path, server: &Tls) -> Client {
    client_within(directory, server, Timeouts::default()).await
}

pub(crate) async fn client_within(directory: &Path, server: &Tls, timeouts: Timeouts) -> Client {
    let authority = directory.join("ca.crt");
    fs::write(&authority, &server.certificate).expect("written");
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
    fs::write(&path, kubeconfig).expect("written");
    let config = Config::from_kubeconfig(&path).await.expect("a good kubeconfig");
    let options = ClientOptions { user_agent: "test/1.0".to_owned(), qps: 0.0, timeouts, ..ClientOptions::default() };
    Client::new(&config, options).expect("a client")
}
