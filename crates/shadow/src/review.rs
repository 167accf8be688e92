//! The review through which the plans of the controllers reach the ledger.

use std::sync::Arc;

use kube_controller_client::Review;
use kube_endpoint_model::{ObjectKey, Write};
use serde::Serialize;

use crate::Shadow;

pub(crate) struct ShadowReview {
    pub(crate) shadow: Arc<Shadow>,
    /// Name of the controller, as in `--controllers`.
    pub(crate) controller: &'static str,
}

impl<T: Serialize + kube_wire::Object> Review<T> for ShadowReview {
    fn review(&self, key: &ObjectKey, writes: &[&Write<T>]) {
        self.shadow.compare(self.controller, key, writes);
    }
}
