//! A server that answers from a script and records the requests.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::{Mutex, Notify, watch},
    task::JoinSet,
    time::timeout,
};

/// One response. The connection is closed after it.
pub(crate) enum Answer {
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

pub(crate) fn ok(body: impl Into<String>) -> Answer {
    Answer::Body { code: 200, headers: "", body: body.into() }
}

pub(crate) fn frames(frames: impl IntoIterator<Item = String>, open: bool) -> Answer {
    Answer::Stream { chunks: frames.into_iter().map(|frame| frame + "\n").collect(), open }
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `GET /path?query`
    pub(crate) line: String,
    /// Whether the request accepts protobuf.
    pub(crate) protobuf: bool,
}

pub(crate) struct Script {
    address: SocketAddr,
    asked: watch::Receiver<Vec<Asked>>,
    _tasks: JoinSet<()>,
}

impl Script {
    /// Serves the responses in order, one per request. Further requests get no response.
    pub(crate) async fn serve(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start(answers, true).await
    }

    /// Serves the responses like [`serve`](Self::serve), but rejects streaming lists with 422 and does not record them.
    pub(crate) async fn serve_without_streams(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start(answers, false).await
    }

    async fn start(answers: impl IntoIterator<Item = Answer>, streams: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let (asked, asked_so_far) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                let (answers, asked) = (answers.clone(), asked.clone());
                connections.spawn(async move {
                    // A client may close the connection at any time.
                    let _ = answer(connection, &answers, &asked, streams).await;
                });
            }
        });
        Self { address, asked: asked_so_far, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for this many requests, for at most 30 s, and returns all requests so far.
    pub(crate) async fn asked(&self, count: usize) -> Vec<Asked> {
        let mut asked = self.asked.clone();
        let result = timeout(Duration::from_secs(30), asked.wait_for(|asked| asked.len() >= count)).await;
        match result {
            Ok(Ok(asked)) => asked.clone(),
            _ => panic!("fewer than {count} requests after 30 s: {:#?}", self.asked.borrow()),
        }
    }
}

async fn answer(
    connection: TcpStream,
    answers: &Mutex<VecDeque<Answer>>,
    asked: &watch::Sender<Vec<Asked>>,
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
    let answer = {
        // One lock for both, so that requests on different connections are recorded in the order of their responses.
        let mut answers = answers.lock().await;
        let line = request.trim_end_matches(" HTTP/1.1\r\n").to_owned();
        asked.send_modify(|asked| asked.push(Asked { line, protobuf }));
        answers.pop_front()
    };
    match answer {
        Some(Answer::Body { code, headers, body }) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {code} x\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
            connection.write_all((head + &body).as_bytes()).await?;
            connection.shutdown().await
        }
        Some(Answer::Stream { chunks, open }) => {
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
        Some(Answer::Bytes { content_type, body, open }) => {
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
        Some(Answer::Held { first, then, go }) => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            connection.write_all(format!("{:x}\r\n{first}\n\r\n", first.len() + 1).as_bytes()).await?;
            go.notified().await;
            connection.write_all(format!("{:x}\r\n{then}\n\r\n", then.len() + 1).as_bytes()).await?;
            std::future::pending().await
        }
        Some(Answer::Break { after }) => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            connection.write_all(format!("{:x}\r\n{after}", after.len() + 100).as_bytes()).await?;
            connection.shutdown().await
        }
        None => std::future::pending().await,
    }
}
