//! Numbers of endpoints over time, with a limit.

use jiff::Timestamp;
use serde::Serialize;

use crate::timeline::Counts;

/// Number of points of a Service.
const LIMIT: usize = 256;
/// Number of intervals that keep two points each, when there are more.
const INTERVALS: i64 = 64;

/// Numbers of endpoints from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Time.
    pub time: Timestamp,
    /// Numbers of endpoints.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Points of a Service. If there are too many, each interval keeps the worst and the last one.
#[derive(Default)]
pub(super) struct Series(Vec<Point>);

impl Series {
    pub(super) fn add(&mut self, point: Point) {
        if self.0.last().is_some_and(|last| last.counts == point.counts) {
            return;
        }
        self.0.push(point);
        if self.0.len() > LIMIT {
            self.reduce();
        }
    }

    pub(super) fn into_points(self) -> Vec<Point> {
        self.0
    }

    /// Leaves at most two points of each interval.
    fn reduce(&mut self) {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return };
        let (start, end) = (first.time.as_millisecond(), last.time.as_millisecond());
        let length = (end - start) / INTERVALS + 1;
        let interval = |point: &Point| (point.time.as_millisecond() - start) / length;
        let mut reduced = Vec::with_capacity(LIMIT);
        for points in self.0.chunk_by(|a, b| interval(a) == interval(b)) {
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            // No Service is not worse than one without endpoints.
            let worst = points.iter().map(|point| point.counts).min_by_key(|it| (!it.exists, *it)).unwrap_or_default();
            reduced.push(Point { time: first.time, counts: worst });
            if last.counts != worst {
                reduced.push(*last);
            }
        }
        self.0 = reduced;
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn many_points_keep_the_worst_and_the_last() {
        let mut series = Series::default();
        let start = Timestamp::UNIX_EPOCH;
        let counts = |reachable| Counts { exists: true, reachable, ready: reachable, ..Counts::default() };
        for at in 0..10_000 {
            let reachable = if at == 4_321 { 0 } else { 2 + usize::from(at % 2 == 1) };
            series.add(Point { time: start + SignedDuration::from_millis(at), counts: counts(reachable) });
        }
        let points = series.into_points();
        assert_eq!(points.last().map(|point| point.counts), Some(counts(3)));
        assert!(points.len() <= LIMIT && points.len() > LIMIT / 4, "{}", points.len());
        assert!(points.is_sorted_by_key(|point| point.time));
        let worst = points.iter().find(|point| point.counts.reachable == 0).expect("the worst one is kept");
        assert!((4_321 - worst.time.as_millisecond()).abs() < 2 * 10_000 / INTERVALS, "{worst:?}");
    }
}
