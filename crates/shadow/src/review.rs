//! The review through which the plans of the controllers reach the ledger.

use std::sync::Arc;

use kube_controller_client::Review;
use kube_endpoint_model::{ObjectKey, Write};
use serde::Serialize;

use crate::Shadow;

/// Compares the plans of one controller.
pub(crate) struct ShadowReview {
    shadow: Arc<Shadow>,
    /// Name of the controller, as in `--controllers`.
    controller: &'static str,
}

impl ShadowReview {
    pub(crate) fn new(shadow: Arc<Shadow>, controller: &'static str) -> ShadowReview {
        ShadowReview { shadow, controller }
    }
}

impl<T: Serialize + kube_wire::Object> Review<T> for ShadowReview {
    fn review(&self, key: &ObjectKey, writes: &[&Write<T>]) {
        self.shadow.compare_plan(self.controller, key, writes);
    }
}
