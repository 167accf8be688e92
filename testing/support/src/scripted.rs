//! A server that responds from a script and records the requests.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::{Mutex, Notify, watch},
    task::JoinSet,
    time::timeout,
};

use crate::LIMIT;

/// One response. The connection is closed after it.
#[derive(Debug)]
#[expect(missing_docs, reason = "each variant describes its fields")]
pub enum Response {
    /// A whole document.
    Body { code: u16, headers: &'static str, body: String },
    /// A watch that sends these bytes, then ends (`open: false`) or stays open without data.
    Stream { chunks: Vec<String>, open: bool },
    /// These bytes with this content type, then the end (`open: false`) or an open connection without data.
    Bytes { content_type: &'static str, body: Vec<u8>, open: bool },
    /// A watch that sends one frame, another after a notification, and then stays open.
    Held { first: String, then: String, go: Arc<Notify> },
    /// These bytes, then a connection that breaks within the response.
    Break { after: String },
}

/// Returns a response of status 200 with this body.
pub fn ok(body: impl Into<String>) -> Response {
    Response::Body { code: 200, headers: "", body: body.into() }
}

/// Returns a watch that sends these frames, then ends (`open: false`) or stays open without data.
pub fn frames(frames: impl IntoIterator<Item = String>, open: bool) -> Response {
    Response::Stream { chunks: frames.into_iter().map(|frame| frame + "\n").collect(), open }
}

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET /path?query`
    pub line: String,
    /// Whether the request accepts protobuf.
    pub protobuf: bool,
}

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Script {
    address: SocketAddr,
    requests: watch::Receiver<Vec<Request>>,
    _tasks: JoinSet<()>,
}

impl Script {
    /// Serves the responses in order, one per request. Further requests get no response.
    pub async fn serve(responses: impl IntoIterator<Item = Response>) -> Self {
        Self::start(responses, true).await
    }

    /// Serves the responses like [`serve`](Self::serve), but rejects streaming lists with 422 and does not record them.
    pub async fn serve_without_streams(responses: impl IntoIterator<Item = Response>) -> Self {
        Self::start(responses, false).await
    }

    async fn start(responses: impl IntoIterator<Item = Response>, streams: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let responses = Arc::new(Mutex::new(responses.into_iter().collect::<VecDeque<_>>()));
        let (request_sender, requests) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                let (responses, requests) = (responses.clone(), request_sender.clone());
                connections.spawn(async move {
                    // A client may close the connection at any time.
                    let _ = respond(connection, &responses, &requests, streams).await;
                });
            }
        });
        Self { address, requests, _tasks: tasks }
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for this many requests, for at most [`LIMIT`], and returns all requests so far.
    pub async fn requests(&self, count: usize) -> Vec<Request> {
        let mut requests = self.requests.clone();
        let result = timeout(LIMIT, requests.wait_for(|requests| requests.len() >= count)).await;
        match result {
            Ok(Ok(requests)) => requests.clone(),
            _ => panic!("fewer than {count} requests after {LIMIT:?}: {:#?}", self.requests.borrow()),
        }
    }
}

async fn respond(
    connection: TcpStream,
    responses: &Mutex<VecDeque<Response>>,
    requests: &watch::Sender<Vec<Request>>,
    streams: bool,
) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let mut request = String::new();
    connection.read_line(&mut request).await?;
    let (mut header, mut protobuf) = (String::new(), false);
    while connection.read_line(&mut header).await? > 2 {
        protobuf |= header.starts_with("accept:") && header.contains("protobuf");
        header.clear();
    }
    if !streams && request.contains("sendInitialEvents") {
        let body = r#"{"kind":"Status","code":422,"reason":"Invalid","message":"sendInitialEvents is forbidden"}"#;
        let length = body.len();
        let head = format!("HTTP/1.1 422 x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        connection.write_all((head + body).as_bytes()).await?;
        return connection.shutdown().await;
    }
    let response = {
        // One lock for both, so that requests on different connections are recorded in the order of their responses.
        let mut responses = responses.lock().await;
        let line = request.trim_end_matches(" HTTP/1.1\r\n").to_owned();
        requests.send_modify(|requests| requests.push(Request { line, protobuf }));
        responses.pop_front()
    };
    match response {
        Some(Response::Body { code, headers, body }) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {code} x\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
            connection.write_all((head + &body).as_bytes()).await?;
            connection.shutdown().await
        }
        Some(Response::Stream { chunks, open }) => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            for chunk in chunks {
                connection.write_all(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes()).await?;
                connection.flush().await?;
            }
            if open {
                std::future::pending::<()>().await;
            }
            connection.write_all(b"0\r\n\r\n").await?;
            connection.shutdown().await
        }
        Some(Response::Bytes { content_type, body, open }) => {
            let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: {content_type}\r\n\r\n");
            connection.write_all(head.as_bytes()).await?;
            connection.write_all(format!("{:x}\r\n", body.len()).as_bytes()).await?;
            connection.write_all(&body).await?;
            connection.write_all(b"\r\n").await?;
            connection.flush().await?;
            if open {
                std::future::pending::<()>().await;
            }
            connection.write_all(b"0\r\n\r\n").await?;
            connection.shutdown().await
        }
        Some(Response::Held { first, then, go }) => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            connection.write_all(format!("{:x}\r\n{first}\n\r\n", first.len() + 1).as_bytes()).await?;
            go.notified().await;
            connection.write_all(format!("{:x}\r\n{then}\n\r\n", then.len() + 1).as_bytes()).await?;
            std::future::pending().await
        }
        Some(Response::Break { after }) => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            connection.write_all(format!("{:x}\r\n{after}", after.len() + 100).as_bytes()).await?;
            connection.shutdown().await
        }
        None => std::future::pending().await,
    }
}
