//! Connections through HTTP and SOCKS proxies.

use std::fs;
use std::sync::{Arc, Mutex};

use display_full_error::DisplayFullErrorExt as _;
use http::header::AUTHORIZATION;
use kube_controller_client::{Client, Config, Error, TransportKind, WatchParams};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::{
    cluster::{PODS, client_of},
    failures::{OK, serve},
    tls,
};

/// A proxy that connects to one server, whatever the requested address.
struct Proxy {
    address: String,
    /// Heads of HTTP requests, or requested SOCKS addresses.
    received: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    async fn start(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("local address").to_string();
        let (received, server) = (Arc::new(Mutex::new(Vec::new())), server.to_owned());
        let (all, mut tasks) = (Arc::clone(&received), JoinSet::new());
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                connections.spawn(connection(near, server.clone(), Arc::clone(&all)));
            }
        });
        Proxy { address, received, _tasks: tasks }
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().expect("lock").clone()
    }
}

async fn connection(mut near: TcpStream, server: String, received: Arc<Mutex<Vec<String>>>) {
    let mut first = [0];
    let _ = near.peek(&mut first).await;
    let (request, response): (String, &[u8]) =
        if first[0] == 5 { socks(&mut near).await } else { http(&mut near).await };
    received.lock().expect("lock").push(request.clone());
    near.write_all(response).await.expect("write");
    if request.starts_with("CONNECT ") || first[0] == 5 {
        let mut far = TcpStream::connect(server).await.expect("connect");
        let _ = copy_bidirectional(&mut near, &mut far).await;
    }
}

/// Reads the head of a request. Returns it with the response.
async fn http(near: &mut TcpStream) -> (String, &'static [u8]) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(near.read_u8().await.expect("read request"));
    }
    let head = String::from_utf8(head).expect("UTF-8");
    let response: &[u8] = match head.split(' ').next() {
        Some("CONNECT") if head.contains("api.refused") => b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
        _ => b"HTTP/1.1 200 OK\r\n\r\n",
    };
    (head, response)
}

/// Reads a SOCKS 5 request without authentication. Returns the requested `domain:port` with the response.
async fn socks(near: &mut TcpStream) -> (String, &'static [u8]) {
    let mut greeting = [0; 3];
    near.read_exact(&mut greeting).await.expect("read greeting");
    near.write_all(&[5, 0]).await.expect("write");
    let mut head = [0; 5];
    near.read_exact(&mut head).await.expect("read request");
    assert_eq!(head[..4], [5, 1, 0, 3], "CONNECT with a domain name");
    let mut domain = vec![0; usize::from(head[4])];
    near.read_exact(&mut domain).await.expect("read domain");
    let port = near.read_u16().await.expect("read port");
    (format!("{}:{port}", String::from_utf8(domain).expect("UTF-8")), &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
}

async fn client(server: &tls::Tls, address: &str, proxy_url: &str) -> Client {
    let folder = tempfile::tempdir().expect("tempdir");
    let path = server.write_kubeconfig(folder.path());
    let kubeconfig = fs::read_to_string(&path).expect("read kubeconfig");
    let with_proxy = format!("server: '{address}', tls-server-name: localhost, proxy-url: '{proxy_url}'");
    fs::write(&path, kubeconfig.replace(&format!("server: '{}'", server.url), &with_proxy)).expect("write");
    client_of(&Config::from_kubeconfig(&path).await.expect("load kubeconfig"))
}

fn address(server: &tls::Tls) -> String {
    server.url.replace("https://localhost", "127.0.0.1")
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let server = tls::serve(&["h2"]).await;
    let proxy = Proxy::start(&address(&server)).await;
    let url = format!("http://Aladdin:open%20sesame@{}", proxy.address);
    let client = client(&server, "https://api.test:6443", &url).await;
    client.get_json("/version").await.expect("request");
    let _watch = client.watch(&PODS, None, &WatchParams::default()).await.expect("watch");
    let received = proxy.received();
    assert_eq!(received.len(), 2, "one connection for requests, one for watches: {received:?}");
    for head in received {
        assert!(head.starts_with("CONNECT api.test:6443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{head}");
        assert!(!head.contains("a-token"), "token of the server sent to the proxy: {head}");
    }
    let requests = server.requests.lock().unwrap();
    let (_, version, request) = &requests[0];
    assert_eq!(*version, http::Version::HTTP_2);
    assert_eq!(request.headers()[AUTHORIZATION], "Bearer a-token");
    assert!(!request.headers().contains_key("proxy-authorization"));
}

#[tokio::test]
async fn http_goes_through_a_tunnel() {
    let (server, mut requests) = serve(vec![OK]).await;
    let proxy = Proxy::start(server.strip_prefix("http://").expect("plain HTTP")).await;
    let url = format!("http://user:pass@{}", proxy.address);
    let client = client(&tls::serve(&["h2"]).await, "http://api.test:8080", &url).await;
    client.get_json("/version").await.expect("request");
    let received = proxy.received();
    assert!(received[0].starts_with("CONNECT api.test:8080 HTTP/1.1\r\n"), "{received:?}");
    let request = &requests.join_next().await.expect("a task").expect("one request")[0];
    assert!(request.starts_with("GET /version HTTP/1.1\r\n"), "{request}");
}

#[tokio::test]
async fn socks_proxies_resolve_names() {
    let server = tls::serve(&["h2"]).await;
    let proxy = Proxy::start(&address(&server)).await;
    let url = format!("socks5://{}", proxy.address);
    let client = client(&server, "https://api.test", &url).await;
    client.get_json("/version").await.expect("request");
    assert_eq!(proxy.received(), ["api.test:443"]);
}

#[tokio::test]
async fn proxy_error_names_the_proxy_without_its_password() {
    let server = tls::serve(&["h2"]).await;
    let proxy = Proxy::start(&address(&server)).await;
    let url = format!("http://user:secret@{}", proxy.address);
    let client = client(&server, "https://api.refused", &url).await;
    let error = client.get_json("/version").await.expect_err("request succeeded");
    assert!(matches!(error, Error::Transport { kind: TransportKind::Connect, .. }), "{error:?}");
    let text = error.to_string_full();
    assert!(text.contains(&format!("proxy http://{}: tunnel error: proxy auth", proxy.address)), "{text}");
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}
