//! Discrete-event model of an API server, instances of the adaptive limit, and a neighbour, in simulated time.
//!
//! The server has seats and one queue, and rejects requests with 429 if the queue is full. That is harder on the
//! neighbour than API priority and fairness, which gives it a queue and seats of its own.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use crate::limits::adaptive::{AdaptiveLimit, Answer};

/// Network time of a request and its response together.
const NETWORK: Duration = Duration::from_millis(1);
/// `Retry-After` of API priority and fairness.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Demand of a client.
#[derive(Debug, Clone, Copy)]
pub(super) enum Demand {
    /// Requests per second at random times.
    Rate(f64),
    /// As many requests as the client is allowed to send, from this time on.
    Backlog(Duration),
}

#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) seats: usize,
    /// Maximum number of requests that wait for a seat.
    pub(super) queue: usize,
    /// Mean time in a seat. Half of it is constant, half is distributed exponentially.
    pub(super) service: Duration,
    /// Changes of the number of seats.
    pub(super) seats_at: Vec<(Duration, usize)>,
    /// Clients with an adaptive limit: demand, and maximum number of requests in flight (workers).
    pub(super) instances: Vec<(Demand, usize)>,
    /// Requests per second of a client without limit, which does not repeat rejected requests.
    pub(super) neighbour: f64,
    pub(super) duration: Duration,
    pub(super) seed: u64,
}

/// Result for one client.
#[derive(Debug, Clone, Default)]
pub(super) struct Served {
    /// Time of the arrival and of the response of each request.
    pub(super) requests: Vec<(Duration, Duration)>,
    pub(super) rejections: usize,
}

impl Served {
    /// Returns a quantile of the latencies.
    pub(super) fn quantile(&self, quantile: f64) -> Duration {
        self::quantile(self.requests.iter().map(|(arrived, done)| done.saturating_sub(*arrived)).collect(), quantile)
    }

    /// Returns the number of responses between two times.
    pub(super) fn between(&self, from: Duration, to: Duration) -> usize {
        self.requests.iter().filter(|(_, done)| (from..to).contains(done)).count()
    }
}

/// Returns a quantile of durations, of which there must be one.
pub(super) fn quantile(mut all: Vec<Duration>, quantile: f64) -> Duration {
    all.sort_unstable();
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let at = ((all.len() as f64 * quantile) as usize).min(all.len() - 1);
    all[at]
}

/// Random numbers of one purpose, so that the requests of the neighbour do not depend on the instances.
#[derive(Debug)]
struct Random(u64);

impl Random {
    /// Returns a number of the exponential distribution with mean 1, by `SplitMix64`.
    fn exponential(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        #[expect(clippy::cast_precision_loss)]
        let uniform = ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        -(1.0 - uniform).ln()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A request of a client begins to wait.
    Arrives(usize),
    /// A client may send again after a pause.
    Resumes(usize),
    Finishes(Request),
    /// A response reaches its client: 429 if `false`.
    Answered(Request, bool),
    Seats(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    client: usize,
    arrived: Duration,
    sent: Duration,
    service: Duration,
}

struct Client {
    demand: Demand,
    workers: usize,
    /// `None` for the neighbour.
    limit: Option<AdaptiveLimit>,
    waiting: VecDeque<Duration>,
    in_flight: usize,
    arrivals: Random,
    services: Random,
    served: Served,
}

struct Run<'a> {
    model: &'a Model,
    start: Instant,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    next: u64,
    clients: Vec<Client>,
    seats: usize,
    busy: usize,
    queue: VecDeque<Request>,
}

impl Model {
    /// Returns the results of the instances, and of the neighbour last.
    pub(super) fn run(&self) -> Vec<Served> {
        let client = |(at, (demand, workers, is_limited)): (u64, (Demand, usize, bool))| Client {
            demand,
            workers,
            limit: is_limited.then(AdaptiveLimit::new),
            waiting: VecDeque::new(),
            in_flight: 0,
            arrivals: Random(self.seed.wrapping_mul(1_000) + 2 * at),
            services: Random(self.seed.wrapping_mul(1_000) + 2 * at + 1),
            served: Served::default(),
        };
        let neighbour = (Demand::Rate(self.neighbour), usize::MAX, false);
        // The neighbour is the first, so that its random numbers do not depend on the number of instances.
        let all =
            std::iter::once(neighbour).chain(self.instances.iter().map(|(demand, workers)| (*demand, *workers, true)));
        let mut run = Run {
            model: self,
            start: tokio::time::Instant::now().into_std(),
            now: Duration::ZERO,
            events: BinaryHeap::new(),
            next: 0,
            clients: (0..).zip(all).map(client).collect(),
            seats: self.seats,
            busy: 0,
            queue: VecDeque::new(),
        };
        run.run();
        let mut served: Vec<Served> = run.clients.into_iter().map(|client| client.served).collect();
        served.rotate_left(1);
        served
    }
}

impl Run<'_> {
    fn run(&mut self) {
        for (at, seats) in &self.model.seats_at {
            self.at(*at, Event::Seats(*seats));
        }
        for client in 0..self.clients.len() {
            match self.clients[client].demand {
                Demand::Rate(_) => self.next_arrival(client),
                Demand::Backlog(from) => self.at(from, Event::Resumes(client)),
            }
        }
        while let Some(Reverse((at, _, event))) = self.events.pop()
            && at < self.model.duration
        {
            self.now = at;
            match event {
                Event::Arrives(client) => {
                    self.clients[client].waiting.push_back(self.now);
                    self.next_arrival(client);
                    self.send(client);
                }
                Event::Resumes(client) => self.send(client),
                Event::Finishes(request) => {
                    self.busy -= 1;
                    self.seat();
                    self.at(self.now + NETWORK, Event::Answered(request, true));
                }
                Event::Answered(request, is_served) => self.answered(request, is_served),
                Event::Seats(seats) => {
                    self.seats = seats;
                    self.seat();
                }
            }
        }
    }

    fn at(&mut self, at: Duration, event: Event) {
        self.next += 1;
        self.events.push(Reverse((at, self.next, event)));
    }

    fn next_arrival(&mut self, client: usize) {
        if let Demand::Rate(rate) = self.clients[client].demand
            && rate > 0.0
        {
            let after = Duration::from_secs_f64(self.clients[client].arrivals.exponential() / rate);
            self.at(self.now + after, Event::Arrives(client));
        }
    }

    /// Sends the waiting requests of a client that its limit admits.
    fn send(&mut self, at: usize) {
        loop {
            let (now, client) = (self.start + self.now, &mut self.clients[at]);
            if let Demand::Backlog(from) = client.demand
                && client.waiting.is_empty()
                && self.now >= from
            {
                client.waiting.push_back(self.now);
            }
            if client.waiting.is_empty() || client.in_flight >= client.workers {
                return;
            }
            if let Some(limit) = &mut client.limit {
                if let Some(until) = limit.paused_until(now) {
                    let until = until - self.start;
                    self.at(until, Event::Resumes(at));
                    return;
                }
                if !limit.admits(now) {
                    return;
                }
                limit.sent(now);
            }
            let Some(arrived) = client.waiting.pop_front() else { return };
            client.in_flight += 1;
            let service = self.model.service.mul_f64(0.5 + 0.5 * client.services.exponential());
            self.receive(Request { client: at, arrived, sent: self.now, service });
        }
    }

    /// Seats, queues or rejects a request at the server.
    fn receive(&mut self, request: Request) {
        if self.busy >= self.seats && self.queue.len() >= self.model.queue {
            self.at(self.now + NETWORK, Event::Answered(request, false));
            return;
        }
        self.queue.push_back(request);
        self.seat();
    }

    fn seat(&mut self) {
        while self.busy < self.seats
            && let Some(request) = self.queue.pop_front()
        {
            self.busy += 1;
            self.at(self.now + request.service, Event::Finishes(request));
        }
    }

    fn answered(&mut self, request: Request, is_served: bool) {
        let (start, now) = (self.start, self.start + self.now);
        let client = &mut self.clients[request.client];
        client.in_flight -= 1;
        if let Some(limit) = &mut client.limit {
            let answer = if is_served { Answer::Served } else { Answer::Rejected(Some(RETRY_AFTER)) };
            limit.answered(start + request.sent, now, answer);
        }
        if is_served {
            client.served.requests.push((request.arrived, self.now));
        } else {
            client.served.rejections += 1;
            if client.limit.is_some() {
                client.waiting.push_front(request.arrived);
            }
        }
        self.send(request.client);
    }
}
