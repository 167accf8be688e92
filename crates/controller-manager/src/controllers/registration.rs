//! The entry of a controller in the list.

use std::sync::Arc;

use kube_controller::Controller;
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ReviewedClient};
use kube_endpoint_model::ObjectKey;
use kube_wire::{Object, Resource};
use serde::Serialize;
use serde_json::Value;

use crate::caches::Caches;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::shadow::Shadow;

/// A controller of this program: its names, the caches that it reads, and how it is built.
pub(crate) struct Registration {
    /// Canonical name in `--controllers`; identifies the controller in health checks, metrics and the log.
    pub(crate) name: &'static str,
    /// Name in `--controllers` before Kubernetes 1.28.
    pub(super) alias: &'static str,
    /// Value of the managed-by label of the objects that it writes.
    pub(super) managed_by: &'static str,
    /// Service account in `kube-system`; last part of the user agent without
    /// [`service_account_credentials`](crate::ClientSettings::service_account_credentials).
    pub(crate) account: &'static str,
    /// Component of its Events.
    pub(crate) component: &'static str,
    /// Resources whose caches it reads. No key is synced before these have caught up.
    pub(crate) reads: &'static [Resource],
    /// Returns its section of `/configz`: name and fields.
    pub(super) configz: fn(&Settings) -> (&'static str, Value),
    /// Builds the controller; `None` if it is not compiled in.
    pub(crate) build: Option<fn(Parts<'_>) -> Built>,
}

/// A controller, or the error of the registration of its metrics.
pub(crate) type Built = prometheus::Result<Controller<ObjectKey>>;

/// What a controller is built from.
pub(crate) struct Parts<'a> {
    pub(crate) name: &'static str,
    pub(crate) settings: &'a Settings,
    pub(crate) caches: &'a Caches,
    pub(crate) client: Client,
    pub(crate) recorder: EventRecorder,
    /// `None` if nothing reads metrics.
    pub(crate) metrics: Option<&'a Metrics>,
    /// The comparison of shadow mode; `None` in active mode.
    pub(crate) shadow: Option<&'a Arc<Shadow>>,
}

impl Parts<'_> {
    /// Returns the client that the controller writes with: in shadow mode, one that sends no write.
    pub(super) fn writer<T: Object + Serialize + 'static>(&self) -> ReviewedClient<T> {
        match self.shadow {
            Some(shadow) => shadow.client(self.client.clone(), self.name),
            None => self.client.clone().into(),
        }
    }

    pub(super) fn sync_metrics(&self) -> kube_controller::Metrics {
        self.metrics.map_or_else(kube_controller::Metrics::default, |metrics| kube_controller::Metrics {
            queue: Some(Arc::new(metrics.queues.clone())),
            controller: Some(metrics.controllers.controller(self.name)),
        })
    }
}
