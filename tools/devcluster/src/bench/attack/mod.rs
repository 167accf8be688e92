//! Load on the HTTPS server of the controllers, for the scenario `serving`. Everything stays on loopback addresses, and
//! everything is limited in number and time.

mod handshakes;
mod https;
mod scraper;
mod slow;
mod tokens;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use serde::Serialize;
use tokio::{net::TcpStream, task::JoinSet};

pub(crate) use self::https::Https;
pub(crate) use self::scraper::{Scraper, Scrapes};
use super::latencies::Latencies;

/// Number of addresses from which the load comes: enough ports for 60 s at the highest rate.
const SOURCES: u8 = 8;

/// Address of a client of the load. The scrapers use 127.0.0.1.
fn source(number: usize) -> IpAddr {
    let last = 2 + u8::try_from(number % usize::from(SOURCES)).unwrap_or_default();
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

/// Kinds of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attack {
    /// Connections that begin a TLS handshake, which costs the server two public-key operations, and leave it unfinished.
    Handshakes,
    /// Connections that are silent, or send everything slowly. Each is opened again 5 s after the server closed it.
    Slow,
    /// Requests with tokens that do not exist, on connections that are kept open.
    Tokens,
}

impl Attack {
    pub(crate) const ALL: [Attack; 3] = [Attack::Handshakes, Attack::Slow, Attack::Tokens];

    /// Returns the name of the measurement.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Attack::Handshakes => "serving-handshakes",
            Attack::Slow => "serving-slow",
            Attack::Tokens => "serving-tokens",
        }
    }
}

/// Size of the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Handshakes, or requests with tokens, per second.
    pub(crate) rate: usize,
    /// Number of slow clients.
    pub(crate) connections: usize,
    pub(crate) duration: Duration,
}

/// What the load did so far.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    attempts: AtomicU64,
    answers: AtomicU64,
    rejections: AtomicU64,
}

impl Counters {
    fn attempted(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    fn rejected(&self) {
        self.rejections.fetch_add(1, Ordering::Relaxed);
    }
}

/// Result of a measurement under load.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnderAttack {
    /// Connections, or requests with tokens, of the load.
    pub(crate) attempts: u64,
    /// Those that the server answered: with its part of the handshake, or with a response.
    pub(crate) answers: u64,
    /// Those that it answered with 429.
    pub(crate) rejections: u64,
    /// Seconds of load.
    pub(crate) seconds: f64,
    /// Highest number of open file descriptors of the controllers.
    pub(crate) descriptors: usize,
    /// Number of `TokenReview` requests per second, over the load.
    pub(crate) token_reviews_per_second: f64,
    /// Highest age of the renewal of the lease, in seconds.
    pub(crate) lease_age: f64,
    /// Latencies of `/livez`, on a new connection each.
    pub(crate) probes: Option<Latencies>,
    /// Latencies of `/metrics` on a connection that is kept open, from an address of the load.
    pub(crate) kept_open: Option<Latencies>,
}

impl UnderAttack {
    pub(crate) fn new(counters: &Counters, seconds: f64) -> Self {
        let [attempts, answers, rejections] = [&counters.attempts, &counters.answers, &counters.rejections]
            .map(|counter| counter.load(Ordering::Relaxed));
        Self {
            attempts,
            answers,
            rejections,
            seconds,
            descriptors: 0,
            token_reviews_per_second: 0.0,
            lease_age: 0.0,
            probes: None,
            kept_open: None,
        }
    }
}

/// Starts the load. It ends with the returned tasks.
pub(crate) fn start(
    attack: Attack,
    load: Load,
    https: &Arc<Https>,
    counters: &Arc<Counters>,
) -> anyhow::Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    match attack {
        Attack::Handshakes => {
            let hello = https.client_hello().context("cannot begin a handshake")?;
            tasks.spawn(handshakes::run(https.address, hello, load.rate, Arc::clone(counters)));
        }
        Attack::Slow => {
            let hello = https.client_hello().context("cannot begin a handshake")?;
            for number in 0..load.connections {
                // Spread over a second, so that the first attempts are not one burst.
                let delay = Duration::from_secs(1) * u32::try_from(number)? / u32::try_from(load.connections)?;
                let client = slow::Client { number, https: Arc::clone(https), hello: hello.clone() };
                tasks.spawn(client.run(delay, Arc::clone(counters)));
            }
        }
        Attack::Tokens => {
            for number in 0..tokens::CONNECTIONS {
                tasks.spawn(tokens::run(number, Arc::clone(https), Arc::clone(counters)));
            }
        }
    }
    Ok(tasks)
}

/// Connects from an address. A closed connection leaves no port in use: it is reset.
async fn connect(source: IpAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(source, 0))?;
    socket.set_zero_linger()?;
    socket.set_nodelay(true)?;
    socket.connect(to).await
}
