//! A small HTTPS client.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use anyhow::Context as _;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Maximum size of a response head, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Client of one server, whose certificate it verifies.
pub(crate) struct Https {
    pub(crate) address: SocketAddr,
    config: Arc<ClientConfig>,
}

impl Https {
    /// Returns a client that trusts `certificate`, in PEM.
    pub(crate) fn new(address: SocketAddr, certificate: &[u8]) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(certificate).context("no certificate of the server")?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { address, config: Arc::new(config) })
    }

    /// Connects from an address, with TLS.
    pub(crate) async fn connect(&self, source: IpAddr) -> io::Result<TlsStream<TcpStream>> {
        let stream = super::connect(source, self.address).await?;
        TlsConnector::from(Arc::clone(&self.config)).connect(server_name()?, stream).await
    }

    /// Returns the first message of a handshake.
    pub(super) fn client_hello(&self) -> io::Result<Vec<u8>> {
        let connection = ClientConnection::new(Arc::clone(&self.config), server_name()?);
        let mut hello = Vec::new();
        connection.map_err(io::Error::other)?.write_tls(&mut hello)?;
        Ok(hello)
    }
}

fn server_name() -> io::Result<ServerName<'static>> {
    ServerName::try_from("localhost").map_err(io::Error::other)
}

/// Sends a GET request, reads the response, and returns its status. The connection stays open.
pub(super) async fn get(stream: &mut TlsStream<TcpStream>, path: &str, token: Option<&str>) -> io::Result<u16> {
    let authorization = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{authorization}\r\n").as_bytes()).await?;
    let mut received = Vec::with_capacity(4 << 10);
    let end = loop {
        if let Some(at) = received.windows(4).position(|it| it == b"\r\n\r\n") {
            break at + 4;
        }
        if received.len() > MAX_HEAD || stream.read_buf(&mut received).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let head = std::str::from_utf8(&received[..end]).map_err(io::Error::other)?.to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(invalid)?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let missing = (end + length.ok_or_else(invalid)?).saturating_sub(received.len());
    let mut rest = stream.take(missing as u64);
    let read = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
    if read == missing as u64 { Ok(status) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
