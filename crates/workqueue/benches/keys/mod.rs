//! Keys of the form that controllers use.

use std::sync::Arc;

pub(crate) fn keys(count: usize) -> Vec<Arc<str>> {
    (0..count).map(|at| format!("namespace-{}/service-{at}", at % 100).into()).collect()
}
