//! Latency of requests, compared with a baseline for each kind of request.
//!
//! Latencies are compared by windows of [`WINDOW`] requests of one kind. The median of a window ignores single slow
//! requests, and exceeds the baseline if requests wait in the server.
//!
//! The baseline is the latency with at most [`MIN_LIMIT`] requests of this client in flight, so without a queue that
//! the client itself causes. It follows a decrease at once. It grows at most twofold in [`DOUBLING`], so that an overload by
//! other clients does not become the baseline before it ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::adaptive::MIN_LIMIT;

/// Requests of one window.
pub(crate) const WINDOW: usize = 20;
/// Requests of a window whose time is over.
const SMALLEST_WINDOW: usize = 5;
/// Time in which a baseline doubles at most.
const DOUBLING: Duration = Duration::from_secs(30);
/// Factor by which latency is clearly less than the baseline, and not by chance.
const CLEARLY_LESS: f64 = 1.25;
/// Latency above the baseline that is tolerated in any case.
const TOLERATED_DIFFERENCE: Duration = Duration::from_millis(2);
/// Range of the tolerated latency, as a multiple of the baseline.
const TOLERATED_FACTOR: (f64, f64) = (1.25, 4.0);

/// Returns the latency above which a limit decreases.
///
/// A greater limit tolerates less, as in Swift (Kumar et al., SIGCOMM 2020, "flow-based scaling"), so that several
/// clients of one server converge to equal limits although their baselines differ.
fn tolerated(baseline: Duration, limit: f64) -> Duration {
    let factor = 1.0 + 8.0 / limit.max(1.0);
    baseline.mul_f64(factor.clamp(TOLERATED_FACTOR.0, TOLERATED_FACTOR.1)).max(baseline + TOLERATED_DIFFERENCE)
}

/// Number of a kind of request with its own baseline: verb and resource.
pub(crate) type RequestKind = usize;

/// Latency of a complete window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pressure {
    /// Near the baseline, or there was no baseline before.
    Low,
    /// Above the baseline, so that the limit must not grow.
    Raised,
    /// So far above the baseline that the limit must decrease. `tolerance` is the greatest latency for which it does
    /// not, divided by the measured one: less than 1.
    High { tolerance: f64 },
}

/// A complete window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) pressure: Pressure,
    /// Whether the latency was clearly less than the baseline.
    pub(crate) is_below_baseline: bool,
}

/// Windows and baselines of all kinds of requests at one priority level.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    kinds: BTreeMap<RequestKind, Kind>,
    /// Whether the last complete window of any kind was above its baseline.
    raised: bool,
}

#[derive(Debug, Clone, Default)]
struct Kind {
    window: Vec<Duration>,
    /// Greatest number of requests in flight since the window began.
    peak: u16,
    baseline: Option<Baseline>,
}

#[derive(Debug, Clone, Copy)]
struct Baseline {
    latency: Duration,
    /// The baseline at `limited_at`, from which it has grown at most twofold in [`DOUBLING`].
    limited_by: Duration,
    limited_at: Instant,
}

impl Latencies {
    /// Counts a request that is sent; `in_flight` includes it.
    pub(crate) fn sent(&mut self, in_flight: u16) {
        for kind in self.kinds.values_mut() {
            kind.peak = kind.peak.max(in_flight);
        }
    }

    /// Discards incomplete windows; baselines stay.
    pub(crate) fn clear(&mut self) {
        for kind in self.kinds.values_mut() {
            kind.window.clear();
            kind.peak = 0;
        }
    }

    /// Ends the measurement of the baseline. Windows with at least [`SMALLEST_WINDOW`] requests count as complete: a slow
    /// server answers few requests in that time.
    pub(crate) fn end_measurement(&mut self, limit: f64, now: Instant) {
        for kind in self.kinds.values_mut().filter(|kind| kind.window.len() >= SMALLEST_WINDOW) {
            kind.complete(limit, now);
        }
        self.clear();
    }

    /// Returns whether the limit may grow: the latency is near a baseline, or is not measured for the requests sent so
    /// far.
    pub(crate) fn allow_growth(&self) -> bool {
        let has_baseline = self.kinds.values().any(|kind| kind.baseline.is_some());
        !self.raised && (self.kinds.is_empty() || has_baseline)
    }

    /// Adds the latency of a request. Returns the pressure if its window is complete.
    pub(crate) fn add(&mut self, kind: RequestKind, latency: Duration, limit: f64, now: Instant) -> Option<Window> {
        let kind = self.kinds.entry(kind).or_default();
        kind.window.push(latency);
        if kind.window.len() < WINDOW {
            return None;
        }
        let window = kind.complete(limit, now);
        self.raised = window.pressure != Pressure::Low;
        Some(window)
    }
}

impl Kind {
    fn complete(&mut self, limit: f64, now: Instant) -> Window {
        self.window.sort_unstable();
        let median = self.window[self.window.len() / 2];
        self.window.clear();
        let has_own_queue = std::mem::take(&mut self.peak) > MIN_LIMIT;
        let Some(baseline) = &mut self.baseline else {
            // With few requests in flight: the limit does not grow without a baseline.
            self.baseline = Some(Baseline { latency: median, limited_by: median, limited_at: now });
            return Window { pressure: Pressure::Low, is_below_baseline: false };
        };
        let before = baseline.latency;
        let is_below_baseline = median.mul_f64(CLEARLY_LESS) < before;
        if !has_own_queue {
            let age = now.saturating_duration_since(baseline.limited_at);
            let greatest = baseline.limited_by.mul_f64((age.as_secs_f64() / DOUBLING.as_secs_f64()).exp2());
            baseline.latency = ((before + median) / 2).min(greatest);
            if age >= DOUBLING / 3 {
                (baseline.limited_by, baseline.limited_at) = (baseline.latency, now);
            }
        } else if is_below_baseline {
            baseline.latency = (before + median) / 2;
        }
        let tolerated = tolerated(before, limit);
        let pressure = if median > tolerated {
            Pressure::High { tolerance: tolerated.div_duration_f64(median) }
        } else if median > (before + tolerated) / 2 {
            Pressure::Raised
        } else {
            Pressure::Low
        };
        Window { pressure, is_below_baseline }
    }
}
