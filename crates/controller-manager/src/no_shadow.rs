//! In place of the comparison, without the feature `shadow`: types without values.

use std::sync::Arc;

use kube_controller::{Controller, Supervisor};
use kube_controller_client::{Client, ReviewedClient};
use kube_endpoint_model::ObjectKey;
use tokio_util::sync::CancellationToken;

use crate::caches::Caches;
use crate::metrics::Metrics;
use crate::pages::ShadowPage;
use crate::settings::Settings;

/// No plan is compared.
pub(crate) enum Shadow {}

/// Returns `None`: nothing is compared.
#[expect(clippy::unnecessary_wraps, reason = "the signature of the function with the feature")]
pub(crate) fn start(
    _: &Settings,
    _: &Caches,
    _: Option<&Metrics>,
    _: &ShadowPage,
) -> prometheus::Result<Option<Arc<Shadow>>> {
    Ok(None)
}

impl Shadow {
    pub(crate) fn follow(&self, _: &'static str, _: Controller<ObjectKey>) -> Controller<ObjectKey> {
        match *self {}
    }

    pub(crate) fn client<T>(&self, _: Client, _: &'static str) -> ReviewedClient<T> {
        match *self {}
    }

    pub(crate) fn spawn(&self, _: &mut Supervisor, _: &Client, _: &CancellationToken) {
        match *self {}
    }
}
