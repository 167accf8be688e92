//! `kubectl endpoints top`: live view of Services and of the changes of their slices.
//!
//! Informers of Services, Pods and EndpointSlices send their events to `run`, which applies them to the `Model` and
//! draws. Model, view and keys are pure: they get the time as an argument.

mod activity;
mod app;
mod column;
mod counts;
mod detail;
mod duration;
mod keys;
mod metrics;
mod model;
#[cfg(test)]
mod objects;
mod pod_endpoints;
mod run;
mod scrape;
mod terminal;
mod view;
mod watches;

pub(crate) use run::run;

/// Options of `kubectl endpoints top`.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopOptions {
    /// Namespace of the Services; `None` for all namespaces.
    pub(crate) namespace: Option<String>,
    /// Label selector of the Services; `None` for all Services.
    pub(crate) selector: Option<String>,
    /// URL of the metrics of a controller manager, such as `http://127.0.0.1:10257/metrics`, which is read without
    /// credentials. A value that starts with `/` is a path on the API server. `None` shows no metrics.
    pub(crate) metrics_url: Option<String>,
}
