//! A minimal HTTPS client: one connection per request.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A client: server address, credentials and protocol.
#[derive(Debug)]
pub struct HttpsClient {
    /// Address of the server, whose certificate is for `localhost`.
    pub address: SocketAddr,
    /// Root certificate that the server's certificate is verified against, in PEM.
    pub authority: Vec<u8>,
    /// Client certificate and its key, in PEM.
    pub certificate: Option<[String; 2]>,
    /// Bearer token.
    pub token: Option<String>,
    /// Versions of TLS that the client offers.
    pub versions: &'static [&'static SupportedProtocolVersion],
    /// Protocol that the client offers by ALPN: `http/1.1` or `h2`.
    pub protocol: &'static str,
}

/// A response.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status code.
    pub code: u16,
    /// Value of the header `Content-Type`; empty without it.
    pub content_type: String,
    /// Body.
    pub body: Bytes,
    /// Body as text; empty if it is not UTF-8.
    pub text: String,
}

impl HttpsClient {
    /// A client without credentials, over HTTP/1.1.
    pub fn anonymous(address: SocketAddr, authority: Vec<u8>) -> HttpsClient {
        let (certificate, token) = (None, None);
        HttpsClient { address, authority, certificate, token, versions: rustls::ALL_VERSIONS, protocol: "http/1.1" }
    }

    /// Connects with TLS. The error is that of TCP or of the handshake.
    pub async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&self.authority).expect("PEM")).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_protocol_versions(self.versions).expect("versions");
        let builder = builder.with_root_certificates(roots);
        let mut config = match &self.certificate {
            None => builder.with_no_client_auth(),
            Some([certificate, key]) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")];
                builder
                    .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM"))
                    .expect("a pair")
            }
        };
        config.alpn_protocols = vec![self.protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.address).await?;
        // Otherwise the kernel withholds the request until the last message of the handshake is acknowledged.
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost").expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, "").await.expect("an answer")
    }

    /// Sends a GET request with the header `Accept`.
    pub async fn get_as(&self, path: &str, accept: &str) -> Reply {
        self.send(Method::GET, path, accept).await.expect("an answer")
    }

    /// Sends a request without a body; without the header `Accept` if it is empty. The error is that of TCP, TLS or HTTP.
    ///
    /// Boxed: each crate compiles the body of an async function that it awaits, here with all of HTTP.
    pub fn send<'a>(&'a self, method: Method, path: &'a str, accept: &'a str) -> Sent<'a> {
        Box::pin(self.exchange(method, path, accept))
    }

    async fn exchange(&self, method: Method, path: &str, accept: &str) -> std::io::Result<Reply> {
        let stream = TokioIo::new(self.connect().await?);
        let mut request =
            Request::builder().method(method).uri(format!("https://localhost{path}")).header("host", "it");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if !accept.is_empty() {
            request = request.header("accept", accept);
        }
        let request = request.body(Empty::<Bytes>::new()).expect("a request");
        let mut tasks = JoinSet::new();
        let response = if self.protocol == "h2" {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.map_err(other)?;
            tasks.spawn(async { drop(connection.await) });
            sender.send_request(request).await.map_err(other)?
        } else {
            let (mut sender, connection) = http1::handshake(stream).await.map_err(other)?;
            tasks.spawn(async { drop(connection.await) });
            sender.send_request(request).await.map_err(other)?
        };
        let code = response.status().as_u16();
        let content_type = response.headers().get("content-type").map(|it| it.to_str().expect("text").to_owned());
        let body = response.into_body().collect().await.map_err(other)?.to_bytes();
        let text = str::from_utf8(&body).unwrap_or_default().to_owned();
        Ok(Reply { code, content_type: content_type.unwrap_or_default(), body, text })
    }
}

type Sent<'a> = Pin<Box<dyn Future<Output = std::io::Result<Reply>> + Send + 'a>>;

fn other(error: hyper::Error) -> std::io::Error {
    std::io::Error::other(error)
}
