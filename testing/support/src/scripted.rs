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
    /// A response of status 200 in these chunks, and its end.
    Stream { content_type: &'static str, chunks: Vec<Vec<u8>>, end: End },
}

/// What follows the chunks of a response.
#[derive(Debug)]
pub enum End {
    /// The regular end of the response.
    Closed,
    /// An open connection without data.
    Open,
    /// The end of the connection within the response.
    Broken,
    /// One more chunk after a notification, then an open connection without data.
    Held(Arc<Notify>, Vec<u8>),
}

/// Returns a response of status 200 with this body.
pub fn ok(body: impl Into<String>) -> Response {
    status(200, body)
}

/// Returns a response with this status and body.
pub fn status(code: u16, body: impl Into<String>) -> Response {
    Response::Body { code, headers: "", body: body.into() }
}

/// Returns a watch that sends these frames, then ends (`open: false`) or stays open without data.
pub fn frames(frames: impl IntoIterator<Item = String>, open: bool) -> Response {
    let chunks = frames.into_iter().map(|frame| (frame + "\n").into_bytes()).collect();
    let end = if open { End::Open } else { End::Closed };
    Response::Stream { content_type: "application/json", chunks, end }
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
        Self::start(responses.into_iter().collect(), true).await
    }

    /// Serves the responses like [`serve`](Self::serve), but rejects streaming lists with 422 and does not record them.
    pub async fn serve_without_streams(responses: impl IntoIterator<Item = Response>) -> Self {
        Self::start(responses.into_iter().collect(), false).await
    }

    async fn start(responses: VecDeque<Response>, streams: bool) -> Self {
        Self::listening(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), responses, streams)
    }

    /// Not async: each crate compiles the body of an async function that it awaits.
    fn listening(listener: TcpListener, responses: VecDeque<Response>, streams: bool) -> Self {
        let address = listener.local_addr().expect("bound");
        let responses = Arc::new(Mutex::new(responses));
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
    let response = if !streams && request.contains("sendInitialEvents") {
        let body = r#"{"kind":"Status","code":422,"reason":"Invalid","message":"sendInitialEvents is forbidden"}"#;
        Some(status(422, body))
    } else {
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
        }
        Some(Response::Stream { content_type, chunks, end }) => {
            let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: {content_type}\r\n\r\n");
            connection.write_all(head.as_bytes()).await?;
            for chunk in chunks {
                write_chunk(&mut connection, &chunk).await?;
            }
            match end {
                End::Closed => connection.write_all(b"0\r\n\r\n").await?,
                End::Open => std::future::pending().await,
                // Announces a chunk that does not come.
                End::Broken => connection.write_all(b"64\r\n").await?,
                End::Held(go, then) => {
                    go.notified().await;
                    write_chunk(&mut connection, &then).await?;
                    std::future::pending::<()>().await;
                }
            }
        }
        None => std::future::pending().await,
    }
    connection.shutdown().await
}

async fn write_chunk(connection: &mut BufReader<TcpStream>, chunk: &[u8]) -> std::io::Result<()> {
    let length = format!("{:x}\r\n", chunk.len());
    connection.write_all(&[length.as_bytes(), chunk, b"\r\n"].concat()).await?;
    connection.flush().await
}
