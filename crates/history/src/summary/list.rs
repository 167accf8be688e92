//! Lists with a limit.

use std::cmp::Reverse;

use serde::Serialize;

/// The first items of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The first items.
    pub items: Vec<T>,
    /// Number of all.
    pub total: usize,
}

/// The items with the greatest weights. Of equal weights, the first ones.
pub(super) struct Top<T> {
    items: Vec<(i64, T)>,
    total: usize,
    limit: usize,
    /// Weight of the last item, if there are as many as the limit.
    least: Option<i64>,
}

impl<T> Top<T> {
    pub(super) fn new(limit: usize) -> Top<T> {
        Top { items: Vec::new(), total: 0, limit, least: None }
    }

    pub(super) fn add(&mut self, weight: i64, item: impl FnOnce() -> T) {
        self.total += 1;
        if self.limit > 0 && self.least.is_none_or(|least| weight > least) {
            self.items.push((weight, item()));
            if self.items.len() >= 2 * self.limit {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        self.items.sort_by_key(|(weight, _)| Reverse(*weight));
        self.items.truncate(self.limit);
        self.least = self.items.last().filter(|_| self.items.len() == self.limit).map(|(weight, _)| *weight);
    }

    pub(super) fn finish(mut self) -> List<T> {
        self.cut();
        List { items: self.items.into_iter().map(|(_, item)| item).collect(), total: self.total }
    }
}

impl<T> List<T> {
    /// Returns how many items are left out.
    pub fn omitted(&self) -> usize {
        self.total - self.items.len()
    }
}
