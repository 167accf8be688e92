//! A keyed work queue for controllers: each key once, delays, rate limits, requeue counts.

#![expect(unexpected_cfgs, reason = "cfg(loom) swaps the lock for a model checker's, as in tokio")]

mod builder;
mod core;
mod get;
mod item;
mod lanes;
mod limiter;
mod metrics;
mod parallel;
#[cfg(feature = "prometheus")]
mod prometheus;
mod queue;
mod shared;
mod sync;
mod timer;
mod waiters;

#[cfg(feature = "prometheus")]
pub use crate::prometheus::PrometheusMetrics;
pub use crate::{
    builder::Builder,
    get::{Get, GetKey},
    item::Item,
    lanes::{Lane, Lanes},
    limiter::{
        BucketLimiter, FOREVER, ItemExponential, ItemFastSlow, MaxOf, RateLimiter, TokenBucket, WithMaxWait,
        default_controller_limiter, default_item_limiter, endpoint_slice_limiter,
    },
    metrics::{MetricsProvider, QueueMetrics},
    parallel::{Parallelism, parallelize_until},
    queue::{Drain, InLane, Queue},
    timer::Timer,
};
