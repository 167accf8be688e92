//! Limit of log lines.

use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of lines in each [`PERIOD`].
const MAX_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(60);

/// Permits 10 lines a minute.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    /// Start of the current period, and the number of its lines.
    period: Option<(Instant, u32)>,
    suppressed: u64,
}

impl LogLimit {
    /// Returns the number of lines suppressed since the last permitted one; `None` if this line is suppressed too.
    pub(crate) fn take(&mut self, now: Instant) -> Option<u64> {
        let (start, lines) = self.period.filter(|(start, _)| now.duration_since(*start) < PERIOD).unwrap_or((now, 0));
        self.period = Some((start, lines + 1));
        if lines < MAX_LINES {
            return Some(std::mem::take(&mut self.suppressed));
        }
        self.suppressed += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ten_lines_a_minute_are_permitted() {
        let (mut limit, start) = (LogLimit::default(), Instant::now());
        let permitted = (0..25).filter(|_| limit.take(start).is_some()).count();
        assert_eq!(permitted, 10);
        assert_eq!(limit.take(start + PERIOD), Some(15));
        assert_eq!(limit.take(start + PERIOD), Some(0));
    }
}
