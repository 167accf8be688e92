//! Limit of the requests per second.

use std::sync::{Mutex, PoisonError};

use kube_workqueue::TokenBucket;
use tokio::time::{Instant, sleep};

pub(crate) struct RateLimit(Mutex<TokenBucket>);

impl RateLimit {
    pub(crate) fn new(qps: f32, burst: u32) -> Self {
        Self(Mutex::new(TokenBucket::new(f64::from(qps), burst)))
    }

    pub(crate) async fn wait(&self) {
        let now = Instant::now().into_std();
        let delay = self.0.lock().unwrap_or_else(PoisonError::into_inner).reserve(now);
        if !delay.is_zero() {
            sleep(delay).await;
        }
    }
}
