//! The gauge of pending keys, computed when metrics are collected: it changes with every event.

use std::fmt;
use std::sync::{Arc, Mutex};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntGaugeVec, Opts};

use crate::{PendingKeys, locked};

/// Collector of the pending keys of all controllers. Clones share the controllers.
#[derive(Clone)]
pub(super) struct Pending {
    gauge: IntGaugeVec,
    controllers: Arc<Mutex<Vec<Series>>>,
}

/// Name of a controller, and the source of its value.
type Series = (Box<str>, PendingKeys);

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("gauge", &self.gauge).finish_non_exhaustive()
    }
}

impl Pending {
    pub(super) fn new(prefix: &str) -> prometheus::Result<Self> {
        let help = "Number of keys that are queued, wait for a delay, for their retry or for the API server, or are being \
                    synced. At 0, the controller has nothing left to do";
        let gauge = IntGaugeVec::new(Opts::new("pending_keys", help).namespace(prefix), &["controller"])?;
        Ok(Pending { gauge, controllers: Arc::default() })
    }

    pub(super) fn add(&self, controller: Box<str>, count: PendingKeys) {
        locked(&self.controllers).push((controller, count));
    }
}

impl Collector for Pending {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        locked(&self.controllers).retain(|(controller, count)| {
            let keys = count();
            self.gauge
                .with_label_values(&[controller])
                .set(keys.map_or(0, |keys| i64::try_from(keys).unwrap_or(i64::MAX)));
            keys.is_some()
        });
        self.gauge.collect()
    }
}
