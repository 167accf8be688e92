//! Limits the log lines about failures of one process.

use std::time::Duration;

use tokio::time::Instant;

/// Time over which lines are counted.
const WINDOW: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A key failed and is retried.
    Key,
    /// A key is out of retries.
    Exhausted,
    /// The server failed a key.
    Server,
    /// The gate closed or opened.
    Gate,
}

impl Kind {
    /// Returns the number of lines per minute that are logged one by one: with the summary, 41 of all kinds.
    const fn limit(self) -> u32 {
        match self {
            Kind::Key => 20,
            Kind::Exhausted | Kind::Server => 5,
            Kind::Gate => 10,
        }
    }
}

/// Counts lines of the current minute, and those beyond the limits.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    /// Start of the minute; `None` before its first line.
    start: Option<Instant>,
    lines: [u32; 4],
}

/// Number of lines that were not logged, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) keys: u32,
    pub(crate) exhausted: u32,
    pub(crate) server: u32,
}

impl FailureLog {
    /// Counts a line, and returns whether it is logged.
    pub(crate) fn admits(&mut self, kind: Kind, now: Instant) -> bool {
        if self.start.is_none_or(|start| now >= start + WINDOW) && self.folded().is_none() {
            *self = FailureLog { start: Some(now), lines: [0; 4] };
        }
        let lines = &mut self.lines[kind as usize];
        *lines = lines.saturating_add(1);
        *lines <= kind.limit()
    }

    /// Returns the time at which the summary is due; `None` if all lines were logged.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.folded().and(self.start).map(|start| start + WINDOW)
    }

    /// Returns the numbers of the summary if it is due, and begins a new minute.
    pub(crate) fn summary(&mut self, now: Instant) -> Option<Folded> {
        let folded = self.folded().filter(|_| self.due().is_some_and(|due| now >= due))?;
        *self = FailureLog::default();
        Some(folded)
    }

    fn folded(&self) -> Option<Folded> {
        let beyond = |kind: Kind| self.lines[kind as usize].saturating_sub(kind.limit());
        let [keys, exhausted, server, gate] = [Kind::Key, Kind::Exhausted, Kind::Server, Kind::Gate].map(beyond);
        (keys + exhausted + server + gate > 0).then_some(Folded { keys, exhausted, server })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_60_lines_a_minute_and_none_is_lost() {
        let (mut log, start) = (FailureLog::default(), Instant::now());
        let kinds = [Kind::Key, Kind::Exhausted, Kind::Server, Kind::Gate];
        let (mut logged, mut folded) = (Vec::new(), 0);
        for millis in 0..600_000_u64 {
            let now = start + Duration::from_millis(millis);
            if let Some(Folded { keys, exhausted, server }) = log.summary(now) {
                logged.push(millis);
                folded += keys + exhausted + server;
            }
            if millis % 25 == 0 && log.admits(kinds[(millis / 25 % 4) as usize], now) {
                logged.push(millis);
            }
        }
        for millis in &logged {
            let minute = logged.iter().filter(|it| (*millis..millis + 60_000).contains(it)).count();
            assert!(minute <= 60, "{minute} lines from {millis} ms");
        }
        assert!(folded > 0 && log.summary(start + Duration::from_secs(3_600)).is_some());
    }

    #[test]
    fn a_few_failures_are_logged_and_have_no_summary() {
        let (mut log, start) = (FailureLog::default(), Instant::now());
        for seconds in 0..1_000 {
            assert!(log.admits(Kind::Key, start + Duration::from_secs(seconds * 3)), "{seconds}");
            assert_eq!(log.due(), None);
        }
    }
}
