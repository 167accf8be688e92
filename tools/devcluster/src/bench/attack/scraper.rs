//! The clients that have to be served meanwhile: scrapes and probes.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_rustls::client::TlsStream;

use super::{Https, https::get, source};

/// Time from a response to the next request.
const PAUSE: Duration = Duration::from_millis(100);
/// Time limit of a request. The limit that is to be kept is shorter.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Latencies of requests, and the failures.
#[derive(Debug, Default)]
pub(crate) struct Scrapes {
    pub(crate) latencies: Vec<Duration>,
    pub(crate) failures: Vec<String>,
}

/// A client that sends one request at a time.
pub(crate) struct Scraper {
    https: Arc<Https>,
    source: IpAddr,
    path: &'static str,
    token: Option<String>,
    /// Whether all requests use one connection.
    keeps_open: bool,
}

impl Scraper {
    /// Scrapes `/metrics`, on a new connection each time.
    pub(crate) fn metrics(https: &Arc<Https>, token: &str) -> Self {
        let (https, source) = (Arc::clone(https), Ipv4Addr::LOCALHOST.into());
        Self { https, source, path: "/metrics", token: Some(token.to_owned()), keeps_open: false }
    }

    /// Scrapes `/metrics` from an address of the load, on one connection.
    pub(crate) fn kept_open(https: &Arc<Https>, token: &str) -> Self {
        Self { source: source(0), keeps_open: true, ..Self::metrics(https, token) }
    }

    /// Probes `/livez`, on a new connection each time.
    pub(crate) fn livez(https: &Arc<Https>) -> Self {
        Self { path: "/livez", token: None, ..Self::metrics(https, "") }
    }

    /// Opens the first connection, then sends requests in a task of `tasks`.
    pub(crate) async fn start(self, tasks: &mut JoinSet<()>) -> Arc<Mutex<Scrapes>> {
        let scrapes = Arc::<Mutex<Scrapes>>::default();
        let observed = Arc::clone(&scrapes);
        let mut open = None;
        // Whether it succeeds or not: the first request of the task will tell.
        let _ = self.request(&mut open).await;
        tasks.spawn(async move {
            loop {
                let start = Instant::now();
                let result = timeout(TIMEOUT, self.request(&mut open)).await;
                {
                    let mut observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
                    match result {
                        Ok(Ok(200)) => observed.latencies.push(start.elapsed()),
                        Ok(Ok(status)) => observed.failures.push(format!("{} answered with {status}", self.path)),
                        Ok(Err(error)) => observed.failures.push(format!("{} failed: {error}", self.path)),
                        Err(_) => observed.failures.push(format!("{} not answered within {TIMEOUT:?}", self.path)),
                    }
                }
                sleep(PAUSE).await;
            }
        });
        scrapes
    }

    async fn request(&self, open: &mut Option<TlsStream<TcpStream>>) -> io::Result<u16> {
        let mut stream = match open.take() {
            Some(stream) => stream,
            None => self.https.connect(self.source).await?,
        };
        let status = get(&mut stream, self.path, self.token.as_deref()).await?;
        if self.keeps_open {
            *open = Some(stream);
        }
        Ok(status)
    }
}
