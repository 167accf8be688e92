//! Simulation of several electors on one Lease, with clock skew and drift, requests that are delayed, lost or applied
//! late, and processes that are paused. There must never be two leaders at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube_lease_election::{Elector, LeaseName, Next, Now, Request, RequestOutcome, Timing};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// Simulated time in microseconds.
type Time = u64;

const SECOND: Time = 1_000_000;

#[derive(Debug, Clone)]
struct World {
    seed: u64,
    electors: usize,
    /// Probability that a request or a response is lost.
    loss_probability: f64,
    /// Maximum delay of a message; one in ten takes up to ten times as long.
    max_delay: Time,
    /// Probability that a process is paused before a step, and the maximum duration.
    pause_probability: f64,
    max_pause: Time,
    /// End of all faults.
    faults_until: Time,
}

fn worlds() -> impl Strategy<Value = World> {
    (any::<u64>(), 2_usize..5, 0.0..0.5, 1_000..2 * SECOND, 0.0..0.1, SECOND..60 * SECOND).prop_map(
        |(seed, electors, loss_probability, max_delay, pause_probability, max_pause)| World {
            seed,
            electors,
            loss_probability,
            max_delay,
            pause_probability,
            max_pause,
            faults_until: 600 * SECOND,
        },
    )
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// An elector calls `next`, unless a later turn has been scheduled.
    Turn(usize, u64),
    /// A request reaches the server; its sender may have given up.
    RequestArrives(usize, u64),
    /// A response reaches its sender.
    ResponseArrives(usize, u64),
}

struct Candidate {
    elector: Elector,
    /// Speed of its clock relative to simulated time, and its offset.
    rate: f64,
    skew: Time,
    /// Number and deadline of its request in flight.
    in_flight: Option<(u64, Time)>,
    /// Number of its next turn.
    turn: u64,
    /// End of its term in simulated time.
    term_end: Option<Time>,
}

struct Simulation {
    world: World,
    rng: StdRng,
    epoch: Instant,
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    count: u64,
    candidates: Vec<Candidate>,
    requests: Vec<Option<Request>>,
    outcomes: Vec<Option<RequestOutcome>>,
    lease: Option<Lease>,
    version: u64,
    terms: usize,
    time_led: Time,
}

impl Simulation {
    fn new(world: World) -> Self {
        let mut rng = StdRng::seed_from_u64(world.seed);
        let name = LeaseName::new("n", "l");
        let candidates = (0..world.electors)
            .map(|n| Candidate {
                elector: Elector::new(name.clone(), format!("elector-{n}"), Timing::default(), rng.random()),
                // 1.2 / 0.85 is less than 1.5, the ratio of lease duration to renew deadline.
                rate: rng.random_range(0.85..1.2),
                skew: rng.random_range(0..1_000_000 * SECOND),
                in_flight: None,
                turn: 0,
                term_end: None,
            })
            .collect();
        let mut simulation = Self {
            rng,
            epoch: tokio::time::Instant::now().into_std(),
            now: 0,
            events: BinaryHeap::new(),
            count: 0,
            candidates,
            requests: Vec::new(),
            outcomes: Vec::new(),
            lease: None,
            version: 0,
            terms: 0,
            time_led: 0,
            world,
        };
        for n in 0..simulation.world.electors {
            simulation.turn_after(n, 0);
        }
        simulation
    }

    fn schedule(&mut self, delay: Time, event: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + delay, self.count, event)));
    }

    fn turn_after(&mut self, n: usize, delay: Time) {
        self.candidates[n].turn += 1;
        let turn = self.candidates[n].turn;
        self.schedule(delay, Event::Turn(n, turn));
    }

    fn faults_are_over(&self) -> bool {
        self.now >= self.world.faults_until
    }

    fn delay(&mut self) -> Time {
        if self.faults_are_over() {
            return 10_000;
        }
        let delay = self.rng.random_range(0..self.world.max_delay);
        if self.rng.random_bool(0.1) { delay * 10 } else { delay }
    }

    fn loses_message(&mut self) -> bool {
        !self.faults_are_over() && self.rng.random_bool(self.world.loss_probability)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    fn local_time(&self, n: usize) -> Now {
        let Candidate { rate, skew, .. } = self.candidates[n];
        let shown = Duration::from_micros(skew + (self.now as f64 * rate) as u64);
        Now { at: self.epoch + shown, wall: Timestamp::UNIX_EPOCH + shown }
    }

    /// Returns an upper bound of the simulated time at which the clock of a candidate shows `at`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    fn simulated_time(&self, n: usize, at: Instant) -> Time {
        let Candidate { rate, skew, .. } = self.candidates[n];
        let shown = (at - self.epoch).as_micros() as u64 + 1;
        (shown.saturating_sub(skew) as f64 / rate) as u64 + 4
    }

    fn run(&mut self, end: Time) {
        while self.events.peek().is_some_and(|Reverse((at, ..))| *at < end) {
            let Some(Reverse((at, _, event))) = self.events.pop() else { return };
            if self.candidates.iter().any(|candidate| candidate.term_end.is_some_and(|until| until > self.now)) {
                self.time_led += at - self.now;
            }
            self.now = at;
            match event {
                Event::Turn(n, turn) if turn == self.candidates[n].turn => self.turn(n),
                Event::Turn(..) => {}
                Event::RequestArrives(n, request) => self.handle_request(n, request),
                Event::ResponseArrives(n, request) => self.handle_response(n, request),
            }
        }
    }

    fn turn(&mut self, n: usize) {
        if !self.faults_are_over() && self.rng.random_bool(self.world.pause_probability) {
            let pause = self.rng.random_range(0..self.world.max_pause);
            return self.turn_after(n, pause);
        }
        if self.candidates[n].in_flight.is_some_and(|(_, deadline)| self.now < deadline) {
            return;
        }
        self.candidates[n].in_flight = None;
        let local_time = self.local_time(n);
        match self.candidates[n].elector.next(local_time) {
            Next::Wait(until) => {
                let wait = self.simulated_time(n, until).saturating_sub(self.now);
                self.turn_after(n, wait);
            }
            Next::Send { request, deadline } => {
                let number = self.requests.len() as u64;
                self.requests.push(Some(request));
                self.outcomes.push(None);
                let deadline = self.simulated_time(n, deadline);
                self.candidates[n].in_flight = Some((number, deadline));
                self.turn_after(n, deadline - self.now);
                if !self.loses_message() {
                    let delay = self.delay();
                    self.schedule(delay, Event::RequestArrives(n, number));
                }
            }
            Next::Ended(_) => {
                // Restart as a new process with another identity.
                let name = LeaseName::new("n", "l");
                let (identity, seed) = (format!("elector-{n}-{}", self.count), self.rng.random());
                self.candidates[n].elector = Elector::new(name, identity, Timing::default(), seed);
                self.candidates[n].term_end = None;
                self.turn_after(n, SECOND);
            }
        }
    }

    /// Processes a request on the server, with optimistic concurrency control.
    fn handle_request(&mut self, n: usize, number: u64) {
        let index = usize::try_from(number).expect("fits usize");
        let request = self.requests[index].take().expect("request arrived twice");
        let outcome = match request {
            Request::Get => self.lease.clone().map_or(RequestOutcome::NotFound, RequestOutcome::Found),
            Request::Create(_) if self.lease.is_some() => RequestOutcome::Rejected,
            Request::Create(lease) => self.write(lease),
            Request::Update(lease) => match &self.lease {
                None => RequestOutcome::NotFound,
                Some(stored) if stored.metadata.resource_version != lease.metadata.resource_version => {
                    RequestOutcome::Rejected
                }
                Some(_) => self.write(lease),
            },
        };
        self.outcomes[index] = Some(outcome);
        if !self.loses_message() {
            let delay = self.delay();
            self.schedule(delay, Event::ResponseArrives(n, number));
        }
    }

    fn write(&mut self, mut lease: Lease) -> RequestOutcome {
        self.version += 1;
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(lease);
        RequestOutcome::Written { uid: "u".to_owned(), resource_version: self.version.to_string() }
    }

    fn handle_response(&mut self, n: usize, number: u64) {
        let Some((in_flight, _)) = self.candidates[n].in_flight else { return };
        if in_flight != number {
            return;
        }
        if !self.faults_are_over() && self.rng.random_bool(self.world.pause_probability) {
            // The process is paused before it reads the response; the deadline may pass first.
            let pause = self.rng.random_range(0..self.world.max_pause);
            return self.schedule(pause, Event::ResponseArrives(n, number));
        }
        let outcome =
            self.outcomes[usize::try_from(number).expect("fits usize")].take().expect("response arrived twice");
        self.candidates[n].in_flight = None;
        let local_time = self.local_time(n);
        self.candidates[n].elector.record_outcome(local_time, outcome);
        let until = self.candidates[n].elector.term().map(|term| self.simulated_time(n, term.until));
        if let Some(until) = until
            && self.candidates[n].term_end != Some(until)
        {
            for (other, candidate) in self.candidates.iter().enumerate() {
                let overlap = other != n && candidate.term_end.is_some_and(|end| end > self.now);
                assert!(!overlap, "{n} leads at {} and {other} until {:?}", self.now, candidate.term_end);
            }
            self.terms += usize::from(self.candidates[n].term_end.is_none());
            self.candidates[n].term_end = Some(until);
        }
        self.turn_after(n, 0);
    }

    fn leader(&self) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.term_end.is_some_and(|until| until > self.now))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn never_two_leaders_and_one_within_bounds(world in worlds()) {
        let faults_until = world.faults_until;
        let mut simulation = Simulation::new(world);
        simulation.run(faults_until);
        // 60 s for messages in flight and paused processes; then one lease duration and two of the longest retry
        // delays, on the slowest clock.
        let settled = faults_until + 60 * SECOND + 30 * SECOND;
        simulation.run(settled);
        prop_assert!(simulation.leader().is_some(), "no leader");
        // The leader does not change without faults.
        let (terms, leader) = (simulation.terms, simulation.leader());
        simulation.run(settled + 600 * SECOND);
        prop_assert_eq!((simulation.terms, simulation.leader()), (terms, leader));
    }
}

/// Checks that the property above is not vacuous: there are leaders, and with faults there are changes of the leader.
#[test]
fn the_simulation_has_leaders_and_changes_of_leader() {
    let baseline = World {
        seed: 1,
        electors: 3,
        loss_probability: 0.0,
        max_delay: 10_000,
        pause_probability: 0.0,
        max_pause: 1,
        faults_until: 600 * SECOND,
    };
    let mut simulation = Simulation::new(baseline.clone());
    simulation.run(600 * SECOND);
    assert_eq!(simulation.terms, 1);
    assert!(simulation.time_led > 598 * SECOND, "{}", simulation.time_led);
    let mut simulation = Simulation::new(World {
        loss_probability: 0.2,
        max_delay: SECOND,
        pause_probability: 0.05,
        max_pause: 30 * SECOND,
        ..baseline
    });
    simulation.run(600 * SECOND);
    assert!(simulation.terms > 5, "{}", simulation.terms);
    assert!(simulation.time_led > 100 * SECOND, "{}", simulation.time_led);
}
