//! TLS, client certificates, HTTP/1.1 and HTTP/2.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube_dev_apiserver::{Anonymous, Authorization, ClientCertificate, Config, On, Server, Transport, User};
use rstest::rstest;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

fn connector(server: &Server, protocol: &str, certificate: Option<ClientCertificate>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    let authority = server.ca_certificate().unwrap();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match certificate {
        None => builder.with_no_client_auth(),
        Some(certificate) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.certificate.as_bytes()).unwrap()];
            builder
                .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(certificate.key.as_bytes()).unwrap())
                .unwrap()
        }
    };
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// Returns status code and body of a GET over a new connection.
async fn get<S>(stream: S, protocol: &str, server: &Server, token: &str) -> (u16, Bytes)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let request = Request::builder()
        .uri(format!("{}/api/v1/nodes", server.url()))
        .header("host", "localhost")
        .header("authorization", token)
        .body(Empty::<Bytes>::new())
        .unwrap();
    let mut tasks = JoinSet::new();
    let response = if protocol == "h2" {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tasks.spawn(async { drop(connection.await) });
        sender.send_request(request).await.unwrap()
    } else {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tasks.spawn(async { drop(connection.await) });
        sender.send_request(request).await.unwrap()
    };
    (response.status().as_u16(), response.into_body().collect().await.unwrap().to_bytes())
}

async fn get_encrypted(
    server: &Server,
    protocol: &str,
    certificate: Option<ClientCertificate>,
    token: &str,
) -> (u16, Bytes) {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = connector(server, protocol, certificate).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
    get(stream, protocol, server, token).await
}

#[rstest]
#[tokio::test]
async fn client_certificate_authenticates_its_user(#[values("h2", "http/1.1")] protocol: &str) {
    let config = Config {
        transport: Transport::Tls,
        authorization: Authorization::Rbac,
        anonymous: Anonymous::Rejected,
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let certificate_of = |user, group| Some(server.client_certificate(user, group).unwrap().unwrap());
    assert_eq!(get_encrypted(&server, protocol, certificate_of("root", Some("system:masters")), "").await.0, 200);
    let (code, body) = get_encrypted(&server, protocol, certificate_of("alice", None), "").await;
    assert_eq!((code, String::from_utf8_lossy(&body).contains(r#"User \"alice\" cannot list"#)), (403, true));
    assert_eq!(get_encrypted(&server, protocol, None, "").await.0, 401);
    let token = format!("Bearer {}", server.token_for(User::new("bob").group("system:masters")));
    assert_eq!(get_encrypted(&server, protocol, None, &token).await.0, 200);
    let users: Vec<String> = server.requests().matching(&On::any()).into_iter().map(|it| it.user).collect();
    assert_eq!(users, ["root", "alice", "", "bob"]);

    // A certificate of another authority is rejected.
    let stranger = Server::start(Config { transport: Transport::Tls, ..Config::default() }).await.unwrap();
    let forged = stranger.client_certificate("root", Some("system:masters")).unwrap().unwrap();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let connect = connector(&server, protocol, Some(forged));
    let connected = connect.connect(ServerName::try_from("localhost").unwrap(), stream).await;
    let refused = match connected {
        Err(_) => true,
        // With TLS 1.3, the rejection arrives after the handshake.
        Ok(mut stream) => tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1]).await.is_err(),
    };
    assert!(refused);
    let config = server.kubeconfig();
    assert!(config.contains("https://") && config.contains("certificate-authority-data: "));
    assert!(config.contains("client-certificate-data: ") && config.contains("client-key-data: "));
    assert!(server.kubeconfig_for(User::new("carol")).contains("{token: "));
}

#[rstest]
#[tokio::test]
async fn plain_text_serves_http1_and_http2(#[values("h2", "http/1.1")] protocol: &str) {
    let server = Server::start(Config::default()).await.unwrap();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    assert_eq!(get(stream, protocol, &server, "").await.0, 200);
    assert!(server.ca_certificate().is_none() && server.client_certificate("x", None).is_none());
}

#[tokio::test]
async fn plain_text_on_a_tls_port_is_rejected() {
    let server = Server::start(Config { transport: Transport::Tls, ..Config::default() }).await.unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut answer).await;
    assert!(!answer.starts_with(b"HTTP"));
    assert_eq!(get_encrypted(&server, "h2", None, "").await.0, 200, "the server still serves TLS");
}
