//! A TLS server whose connections a test can close with GOAWAY or freeze.

use std::{
    fs,
    path::{Path, PathBuf},
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
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use crate::cluster::kubeconfig;

/// Received requests with connection number and HTTP version.
type ReceivedRequests = Arc<Mutex<Vec<(u32, Version, Request<()>)>>>;
pub(crate) type Body = BoxBody<Bytes, std::io::Error>;
type Watches = Arc<dyn Fn() -> Body + Send + Sync>;

pub(crate) struct Tls {
    pub(crate) url: String,
    certificate: String,
    pub(crate) requests: ReceivedRequests,
    /// Sets the mode of all open connections; later ones are not affected.
    pub(crate) mode: watch::Sender<ConnectionMode>,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionMode {
    Serve,
    /// Sends GOAWAY and accepts no more requests.
    GoAway,
    /// Stops reading and writing without closing the connection.
    Freeze,
}

/// Starts a server that responds with an empty object, and to watches with a body that never ends.
pub(crate) async fn serve(alpn: &[&str]) -> Tls {
    start(IsCa::NoCa, alpn, endless_watches(), None).await
}

pub(crate) fn stream(chunks: impl Stream<Item = Bytes> + Send + Sync + 'static) -> Body {
    BodyExt::boxed(StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))))
}

fn endless_watches() -> Watches {
    Arc::new(|| stream(futures::stream::pending()))
}

/// Starts a server that responds to watches with these bodies, and to other requests with an empty object.
pub(crate) async fn serve_watches(alpn: &[&str], watches: impl Fn() -> Body + Send + Sync + 'static) -> Tls {
    start(IsCa::NoCa, alpn, Arc::new(watches), None).await
}

/// Starts a server whose certificate is its own certificate authority, as `openssl req -x509` makes it.
pub(crate) async fn serve_as_authority() -> Tls {
    start(IsCa::Ca(BasicConstraints::Unconstrained), &["h2"], endless_watches(), None).await
}

/// Starts a server that answers the first request of the first connection with `frames`, and others with an empty object.
pub(crate) async fn serve_frames(frames: &'static [u8]) -> Tls {
    start(IsCa::NoCa, &["h2"], endless_watches(), Some(frames)).await
}

async fn start(is_ca: IsCa, alpn: &[&str], watches: Watches, frames: Option<&'static [u8]>) -> Tls {
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).expect("certificate parameters");
    parameters.is_ca = is_ca;
    let signing_key = KeyPair::generate().expect("generate key");
    let cert = parameters.self_signed(&signing_key).expect("generate certificate");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("parse key");
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key))
        .expect("TLS configuration");
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("https://localhost:{}", listener.local_addr().expect("local address").port());
    let requests = ReceivedRequests::default();
    let (mode, modes) = watch::channel(ConnectionMode::Serve);
    let received = requests.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let connections = AtomicU32::new(0);
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let mut mode = modes.clone();
            // Ignore a mode set before this connection was opened.
            mode.mark_unchanged();
            match frames {
                Some(frames) if number == 0 => serving.spawn(raw_connection(stream, acceptor.clone(), frames)),
                _ => {
                    serving.spawn(connection(number, stream, acceptor.clone(), received.clone(), watches.clone(), mode))
                }
            };
        }
    });
    Tls { url, certificate: cert.pem(), requests, mode, _tasks: tasks }
}

async fn connection(
    number: u32,
    stream: TcpStream,
    acceptor: TlsAcceptor,
    requests: ReceivedRequests,
    watches: Watches,
    mut mode: watch::Receiver<ConnectionMode>,
) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = service_fn(move |request| respond(number, request, requests.clone(), watches.clone()));
    let builder = auto::Builder::new(TokioExecutor::new());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // The client may close the connection at any time.
        _ = connection.as_mut() => return,
        Ok(()) = mode.changed() => {}
    }
    if *mode.borrow() == ConnectionMode::Freeze {
        std::future::pending::<()>().await;
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Answers the first request with `frames` after the settings, and keeps the connection open.
async fn raw_connection(stream: TcpStream, acceptor: TlsAcceptor, frames: &'static [u8]) {
    const PREFACE: usize = 24;
    const HEADERS: u8 = 1;
    const EMPTY_SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let mut stream = acceptor.accept(stream).await.expect("TLS handshake");
    stream.read_exact(&mut [0; PREFACE]).await.expect("preface");
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.expect("head of a frame");
        let [a, b, c, kind, ..] = head;
        let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).expect("24 bits");
        stream.read_exact(&mut vec![0; length]).await.expect("frame");
        if kind == HEADERS {
            break;
        }
    }
    stream.write_all(&[&EMPTY_SETTINGS, frames].concat()).await.expect("write");
    stream.flush().await.expect("flush");
    std::future::pending::<()>().await;
}

async fn respond(
    connection: u32,
    request: Request<Incoming>,
    requests: ReceivedRequests,
    watches: Watches,
) -> Result<Response<Body>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let watch = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    requests.lock().expect("lock").push((connection, parts.version, Request::from_parts(parts, ())));
    BodyExt::collect(body).await.map_err(std::io::Error::other)?;
    let object = || BodyExt::boxed(Full::new(Bytes::from_static(b"{}")).map_err(|never| match never {}));
    Ok(Response::new(if watch { watches() } else { object() }))
}

impl Tls {
    /// Writes a kubeconfig with the server's self-signed certificate as certificate authority. Returns its path.
    pub(crate) fn write_kubeconfig(&self, directory: &Path) -> PathBuf {
        let authority = directory.join("ca.crt");
        fs::write(&authority, &self.certificate).expect("write");
        let cluster = format!("server: '{}', certificate-authority: {}", self.url, authority.display());
        let path = directory.join("admin.conf");
        fs::write(&path, kubeconfig(&cluster, "token: a-token")).expect("write");
        path
    }

    /// Returns a client from that kubeconfig.
    pub(crate) async fn client(&self) -> Client {
        self.client_with_timeouts(Timeouts::default()).await
    }

    pub(crate) async fn client_with_timeouts(&self, timeouts: Timeouts) -> Client {
        let directory = tempfile::tempdir().expect("tempdir");
        let config = Config::from_kubeconfig(&self.write_kubeconfig(directory.path())).await.expect("load kubeconfig");
        let user_agent = "test/1.0".to_owned();
        let options = ClientOptions { user_agent, qps: 0.0, timeouts, ..ClientOptions::default() };
        Client::new(&config, options).expect("create client")
    }
}
