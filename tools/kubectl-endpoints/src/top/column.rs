//! Columns of the table, and the order of the rows.

use std::cmp::Ordering;

use super::model::Row;

/// Column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Column {
    /// Namespace of the Service.
    Namespace,
    /// Name of the Service.
    Name,
    /// Number of slice changes since the start.
    #[default]
    Changes,
    /// Number of slice changes in the last minute.
    PerMinute,
    /// Number of endpoints.
    Endpoints,
    /// Number of endpoints that are not ready.
    NotReady,
    /// Median and last time from a change to its slice.
    Latency,
}

impl Column {
    /// All columns, from left to right.
    pub(crate) const ALL: [Column; 7] = [
        Column::Namespace,
        Column::Name,
        Column::Changes,
        Column::PerMinute,
        Column::Endpoints,
        Column::NotReady,
        Column::Latency,
    ];

    /// Returns the heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Column::Namespace => "NAMESPACE",
            Column::Name => "NAME",
            Column::Changes => "CHANGES",
            Column::PerMinute => "/MIN",
            Column::Endpoints => "ENDPOINTS",
            Column::NotReady => "NOT READY",
            Column::Latency => "P50/LAST",
        }
    }

    /// Returns whether the column contains names, which are sorted in ascending order unless the order is reversed.
    /// Numbers are sorted in descending order.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Column::Namespace | Column::Name)
    }

    /// Returns the column to the right; the first one after the last.
    pub(crate) fn next(self) -> Column {
        self.step(1)
    }

    /// Returns the column to the left; the last one before the first.
    pub(crate) fn previous(self) -> Column {
        self.step(Self::ALL.len() - 1)
    }

    fn step(self, by: usize) -> Column {
        let at = Self::ALL.iter().position(|column| *column == self).unwrap_or_default();
        Self::ALL[(at + by) % Self::ALL.len()]
    }

    /// Compares two rows. Rows with the same value are in the order of namespace and name, and rows without a sample are
    /// last, even in the reversed order.
    pub(crate) fn compare(self, reversed: bool, a: &Row, b: &Row) -> Ordering {
        let (first, second) = if reversed { (b, a) } else { (a, b) };
        let by_value = match self {
            Column::Namespace => first.service.namespace.cmp(&second.service.namespace),
            Column::Name => first.service.name.cmp(&second.service.name),
            Column::Changes => second.changes.cmp(&first.changes),
            Column::PerMinute => second.per_minute.cmp(&first.per_minute),
            Column::Endpoints => second.endpoints.endpoints.cmp(&first.endpoints.endpoints),
            Column::NotReady => second.endpoints.not_ready.cmp(&first.endpoints.not_ready),
            Column::Latency => {
                let value = |row: &Row| row.latency.map(|latency| (latency.p50, latency.last));
                a.latency.is_none().cmp(&b.latency.is_none()).then_with(|| value(second).cmp(&value(first)))
            }
        };
        by_value.then_with(|| a.service.cmp(&b.service))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::activity::Latency;
    use crate::top::counts::Counts;
    use kube_endpoint_model::ObjectKey;
    use rstest::rstest;
    use std::time::Duration;

    fn row(namespace: &str, name: &str, changes: u64, not_ready: usize, latency: Option<u64>) -> Row {
        let latency = latency.map(Duration::from_millis).map(|it| Latency { p50: it, last: it });
        let endpoints = Counts { endpoints: 9 - not_ready, not_ready };
        Row { service: ObjectKey::new(namespace, name), changes, per_minute: 0, endpoints, latency }
    }

    #[rstest]
    #[case(Column::Namespace, false, ["api", "web", "db"])]
    #[case(Column::Namespace, true, ["db", "api", "web"])]
    #[case(Column::Name, false, ["api", "db", "web"])]
    #[case(Column::Name, true, ["web", "db", "api"])]
    #[case(Column::Changes, false, ["db", "web", "api"])]
    #[case(Column::Changes, true, ["api", "web", "db"])]
    #[case(Column::PerMinute, true, ["api", "web", "db"])]
    #[case(Column::Endpoints, false, ["api", "db", "web"])]
    #[case(Column::NotReady, false, ["web", "db", "api"])]
    #[case(Column::Latency, false, ["web", "db", "api"])]
    #[case(Column::Latency, true, ["db", "web", "api"])]
    fn rows_are_sorted(#[case] column: Column, #[case] reversed: bool, #[case] expected: [&str; 3]) {
        let mut rows = [row("a", "web", 2, 3, Some(20)), row("b", "db", 5, 1, Some(10)), row("a", "api", 1, 0, None)];
        rows.sort_by(|a, b| column.compare(reversed, a, b));
        assert_eq!(rows.each_ref().map(|row| &*row.service.name), expected);
    }

    #[test]
    fn columns_are_cyclic() {
        assert_eq!(Column::Latency.next(), Column::Namespace);
        assert_eq!(Column::Namespace.previous(), Column::Latency);
        assert_eq!(Column::Changes.next(), Column::PerMinute);
    }
}
