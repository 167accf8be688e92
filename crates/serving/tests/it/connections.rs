//! TLS versions, malformed connections and a port in use.

use rstest::rstest;
use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;

static OLDER: &[&SupportedProtocolVersion] = &[&TLS12];
static NEWEST: &[&SupportedProtocolVersion] = &[&TLS13];

#[rstest]
#[case::oldest_by_default(TlsVersion::Tls12, OLDER, true)]
#[case::newest_by_default(TlsVersion::Tls12, NEWEST, true)]
#[case::older_than_wanted(TlsVersion::Tls13, OLDER, false)]
#[case::as_wanted(TlsVersion::Tls13, NEWEST, true)]
#[tokio::test]
async fn tls_versions_below_the_minimum_are_rejected(
    #[case] minimum: TlsVersion,
    #[case] versions: &'static [&'static SupportedProtocolVersion],
    #[case] accepted: bool,
) {
    let server = serve(|settings| settings.min_tls_version = minimum).await;
    let client = HttpsClient { versions, ..server.anonymous() };
    assert_eq!(client.connect().await.is_ok(), accepted);
}

/// A `ClientHello` that offers TLS 1.1 at most and is otherwise acceptable.
fn client_hello_tls_1_1() -> Vec<u8> {
    let mut hello = vec![3, 2];
    hello.extend([7; 32]);
    hello.push(0);
    // Four cipher suites of TLS 1.1.
    hello.extend([0, 8, 0xc0, 0x13, 0xc0, 0x14, 0, 0x2f, 0, 0x35]);
    hello.extend([1, 0]);
    // Extensions: signature algorithms, groups, point formats.
    let extensions = [[0, 13, 0, 4, 0, 2, 4, 1], [0, 10, 0, 4, 0, 2, 0, 23], [0, 11, 0, 4, 3, 0, 1, 2]].concat();
    hello.extend([0, u8::try_from(extensions.len()).unwrap()]);
    hello.extend(extensions);
    let length = u8::try_from(hello.len()).unwrap();
    [&[22, 3, 1, 0, length + 4, 1, 0, 0, length], hello.as_slice()].concat()
}

#[tokio::test]
async fn tls_1_1_is_rejected() {
    let server = serve(|_| {}).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&client_hello_tls_1_1()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let (alert, fatal, protocol_version) = (21, 2, 70);
    assert_eq!((answer[0], &answer[5..]), (alert, [fatal, protocol_version].as_slice()));
}

#[tokio::test]
async fn plain_text_is_not_answered() {
    let server = serve(|_| {}).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: it\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP"));
}

#[tokio::test]
async fn oversized_request_head_is_rejected() {
    let server = serve(|_| {}).await;
    let mut stream = server.anonymous().connect().await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nx: ").await.unwrap();
    // More than the buffer holds; the server may close the connection before everything is sent.
    let _ = stream.write_all(&vec![b'x'; 64 << 10]).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(server.anonymous().get("/livez").await.code, 200);
}

#[tokio::test]
async fn address_in_use_is_named_in_the_error() {
    let server = serve(|_| {}).await;
    let mut settings = ServingSettings { bind_address: server.address.ip(), ..ServingSettings::default() };
    settings.port = server.address.port();
    let (routes, metrics) = (Routes::new(Health::default()), ServingMetrics::default());
    let error = Server::bind(&settings, Reviewers::default(), routes, metrics).await.err().unwrap().to_string();
    assert_eq!(error, format!("cannot listen on {}", server.address));
}
