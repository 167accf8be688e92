//! The gauge `kube_informer_idle_seconds`, computed when metrics are collected: a stalled cache reports nothing by
//! itself.

use std::sync::{Arc, Mutex, PoisonError};

use prometheus::{
    GaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};
use tokio::time::Instant;

use crate::{CacheState, Progress};

/// Collector of `kube_informer_idle_seconds` for the informers that were started. Clones share the informers.
#[derive(Debug, Clone)]
pub(super) struct Idle {
    gauge: GaugeVec,
    informers: Arc<Mutex<Vec<Series>>>,
}

/// Label values of an informer, and the source of its value.
type Series = ([String; 4], Progress);

impl Idle {
    pub(super) fn new(labels: &[&str]) -> prometheus::Result<Self> {
        let help = "Time since the last list, event or bookmark was stored, or since the start of an informer that has stored \
                    no list yet. API servers send a bookmark about once a minute.";
        let gauge = GaugeVec::new(Opts::new("kube_informer_idle_seconds", help), labels)?;
        Ok(Self { gauge, informers: Arc::default() })
    }

    pub(super) fn add(&self, labels: [String; 4], progress: Progress) {
        self.informers.lock().unwrap_or_else(PoisonError::into_inner).push((labels, progress));
    }
}

impl Collector for Idle {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let now = Instant::now();
        for (labels, progress) in &*self.informers.lock().unwrap_or_else(PoisonError::into_inner) {
            if let CacheState::Syncing { since: idle } | CacheState::Synced { idle } | CacheState::Held { idle, .. } =
                progress.at(now)
            {
                self.gauge.with_label_values(labels).set(idle.as_secs_f64());
            }
        }
        self.gauge.collect()
    }
}
