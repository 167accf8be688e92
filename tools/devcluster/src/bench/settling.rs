//! Detection of idle controllers.

use std::time::Duration;

use super::usage::Usage;

/// Activity of the controllers up to one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time since the measurement began.
    pub(crate) at: Duration,
    pub(crate) writes: u64,
    /// Bytes sent to the controllers.
    pub(crate) sent: u64,
    /// CPU time and memory.
    pub(crate) usage: Usage,
}

/// Detects idle controllers: for a given time there are no writes, hardly any traffic, and hardly any CPU time.
#[derive(Debug, Clone)]
pub(crate) struct Settling {
    idle_time: Duration,
    samples: Vec<Sample>,
}

/// Maximum bytes sent to idle controllers: bookmarks, HTTP/2 pings and acknowledgements.
const MAX_IDLE_BYTES: u64 = 16 * 1024;

impl Settling {
    /// Returns a detector that requires inactivity for `idle_time`.
    pub(crate) fn new(idle_time: Duration) -> Self {
        Self { idle_time, samples: Vec::new() }
    }

    /// Adds a sample. Returns whether the controllers are idle and `done`, the caller's own condition, is true.
    pub(crate) fn add(&mut self, sample: Sample, done: bool) -> bool {
        self.samples.push(sample);
        let Some(begin) = sample.at.checked_sub(self.idle_time) else { return false };
        let Some(before) = self.samples.iter().rev().find(|it| it.at <= begin) else { return false };
        let used = sample.usage.cpu.saturating_sub(before.usage.cpu);
        // Idle means at most 3 % of one CPU, for timers and the like.
        let is_idle = used * 33 <= sample.at.saturating_sub(before.at);
        done && is_idle && before.writes == sample.writes && sample.sent - before.sent <= MAX_IDLE_BYTES
    }

    /// Returns the time of the last write or, without writes, of the last traffic above the idle level.
    pub(crate) fn busy_until(&self) -> Duration {
        let changed = |of: fn(&Sample) -> u64, min: u64| {
            let last = self.samples.windows(2).rev().find(|pair| of(&pair[1]) - of(&pair[0]) > min);
            last.map(|pair| pair[1].at)
        };
        changed(|it| it.writes, 0).or_else(|| changed(|it| it.sent, MAX_IDLE_BYTES)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, writes: u64, sent: u64, cpu: u64) -> Sample {
        let usage = Usage { cpu: Duration::from_millis(cpu), ..Usage::default() };
        Sample { at: Duration::from_millis(at), writes, sent, usage }
    }

    #[test]
    fn settled_after_the_idle_time() {
        let mut settling = Settling::new(Duration::from_secs(1));
        assert!(!settling.add(sample(0, 0, 0, 0), true));
        assert!(!settling.add(sample(500, 0, 1_000_000, 400), true), "too soon");
        assert!(!settling.add(sample(1_500, 7, 1_000_000, 800), true), "writes");
        assert!(!settling.add(sample(2_500, 7, 1_000_100, 1_800), true), "CPU");
        assert!(!settling.add(sample(3_500, 7, 1_000_100, 1_810), false), "not done");
        assert!(settling.add(sample(4_500, 7, 1_000_100, 1_820), true));
        assert_eq!(settling.busy_until(), Duration::from_millis(1_500));
    }

    #[test]
    fn busy_until_uses_bytes_without_writes() {
        let mut settling = Settling::new(Duration::from_secs(1));
        for it in [sample(0, 0, 0, 0), sample(500, 0, 1_000_000, 400), sample(1_500, 0, 1_000_100, 410)] {
            settling.add(it, true);
        }
        assert_eq!(settling.busy_until(), Duration::from_millis(500));
    }
}
