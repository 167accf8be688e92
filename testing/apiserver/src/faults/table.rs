//! Decides which faults hit a request.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::{Effect, End, Fault, FaultState};
use crate::requests::LoggedRequest;

/// Effects of all faults on one request.
#[derive(Debug, Default)]
pub(crate) struct FaultDecision {
    /// Delay before the request is executed or rejected.
    pub(crate) delay: Duration,
    /// Effect that replaces the response.
    pub(crate) answer: Option<Effect>,
    pub(crate) omission: Option<Omission>,
    pub(crate) stream: Option<StreamFaults>,
}

/// Objects that a list, or the initial events of a watch, lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Omission {
    /// Namespace of these objects; `None` for all.
    namespace: Option<String>,
    /// Number of the first of them that are not omitted.
    keep: usize,
}

impl Omission {
    /// Removes the omitted objects. `namespace` returns that of an object.
    pub(crate) fn apply<T>(&self, objects: &mut Vec<T>, namespace: impl Fn(&T) -> &str) {
        let mut keep = self.keep;
        objects.retain(|object| {
            let selected = self.namespace.as_deref().is_none_or(|only| only == namespace(object));
            let kept = !selected || keep > 0;
            keep -= usize::from(selected && kept);
            kept
        });
    }
}

/// Effects on a response body.
#[derive(Debug)]
pub(crate) struct StreamFaults {
    /// Minimum and maximum delay of each frame, in milliseconds.
    delay: Option<(u64, u64)>,
    /// Maximum size of a piece in bytes, and the pause before each.
    trickle: Option<(u32, Duration)>,
    /// Whether each watch event is sent twice.
    pub(crate) repeat: bool,
    /// Time from the start of a watch to its end, and how it ends.
    pub(crate) end: Option<(Duration, End)>,
    /// Generator for this response only, so that concurrent responses do not change each other's random numbers.
    rng: StdRng,
}

impl StreamFaults {
    /// Draws the delay of the next frame; `None` if there is none.
    pub(crate) fn draw_delay(&mut self) -> Option<Duration> {
        self.delay.map(|(min, max)| draw(&mut self.rng, min, max))
    }

    /// Draws the size of the next piece of `available` bytes and the pause before it; `None` to send all.
    pub(crate) fn draw_piece(&mut self, available: usize) -> Option<(usize, Duration)> {
        let (max_bytes, pause) = self.trickle?;
        let limit = available.min(max_bytes as usize).max(1);
        Some((self.rng.random_range(1..=limit), pause))
    }
}

fn draw(rng: &mut StdRng, min_millis: u64, max_millis: u64) -> Duration {
    Duration::from_millis(rng.random_range(min_millis..=max_millis.max(min_millis)))
}

/// Injected faults, in order of injection.
#[derive(Debug)]
pub(crate) struct FaultTable {
    rules: Vec<FaultState>,
    rng: StdRng,
    last_id: u64,
}

impl FaultTable {
    pub(crate) fn new(rng: StdRng) -> Self {
        Self { rules: Vec::new(), rng, last_id: 0 }
    }

    pub(crate) fn inject(&mut self, fault: Fault) -> u64 {
        self.last_id += 1;
        self.rules.push(FaultState { id: self.last_id, fault, matched: 0, hits: 0 });
        self.last_id
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<FaultState> {
        let at = self.rules.iter().position(|rule| rule.id == id)?;
        Some(self.rules.remove(at))
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(crate) fn states(&self) -> &[FaultState] {
        &self.rules
    }

    /// Evaluates all faults in order of injection.
    ///
    /// The first hit that replaces the response wins; later faults of that sort are neither evaluated nor counted.
    /// Request delays add up. Of several effects of the same sort on the response body or its objects, the last wins.
    pub(crate) fn decide(&mut self, request: &LoggedRequest) -> FaultDecision {
        let mut decision = FaultDecision::default();
        let is_watch = request.verb == "watch";
        for rule in &mut self.rules {
            let Fault { effect, on, after, times, probability } = &rule.fault;
            let has_no_effect = match effect {
                Effect::Reject { .. } | Effect::Reset | Effect::ApplyThenTimeout | Effect::ApplyThenReset => {
                    decision.answer.is_some()
                }
                Effect::RepeatEvents | Effect::EndWatch { .. } => !is_watch,
                Effect::OmitObjects { .. } => !is_watch && request.verb != "list",
                Effect::DelayRequest { .. } | Effect::DelayEvents { .. } | Effect::Trickle { .. } => false,
            };
            if has_no_effect || times.is_some_and(|times| rule.hits >= times) || !on.matches(request) {
                continue;
            }
            rule.matched = rule.matched.saturating_add(1);
            // A probability of 1 draws no random number, so that such a fault does not change the draws of others.
            if rule.matched <= *after || *probability < 1.0 && !self.rng.random_bool(probability.clamp(0.0, 1.0)) {
                continue;
            }
            rule.hits = rule.hits.saturating_add(1);
            decision.add(effect, &mut self.rng);
        }
        decision
    }
}

impl FaultDecision {
    fn add(&mut self, effect: &Effect, rng: &mut StdRng) {
        match effect.clone() {
            answer @ (Effect::Reject { .. } | Effect::Reset | Effect::ApplyThenTimeout | Effect::ApplyThenReset) => {
                self.answer = Some(answer);
            }
            Effect::DelayRequest { min_millis, max_millis } => self.delay += draw(rng, min_millis, max_millis),
            Effect::DelayEvents { min_millis, max_millis } => {
                self.stream(rng).delay = Some((min_millis, max_millis));
            }
            Effect::Trickle { max_bytes, pause_millis } => {
                self.stream(rng).trickle = Some((max_bytes, Duration::from_millis(pause_millis)));
            }
            Effect::RepeatEvents => self.stream(rng).repeat = true,
            Effect::OmitObjects { namespace, keep } => self.omission = Some(Omission { namespace, keep }),
            Effect::EndWatch { after_millis, how } => {
                self.stream(rng).end = Some((Duration::from_millis(after_millis), how));
            }
        }
    }

    fn stream(&mut self, rng: &mut StdRng) -> &mut StreamFaults {
        self.stream.get_or_insert_with(|| StreamFaults {
            delay: None,
            trickle: None,
            repeat: false,
            end: None,
            rng: StdRng::seed_from_u64(rng.random()),
        })
    }
}
