#![doc = include_str!("../README.md")]

mod builder;
mod core;
mod due;
mod get;
mod item;
mod limiter;
mod metrics;
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
    get::Get,
    item::Item,
    limiter::{FOREVER, RetryLimiter, TokenBucket, default_controller_limiter, endpoint_slice_limiter},
    metrics::{MetricsProvider, QueueMetrics},
    queue::Queue,
    timer::Timer,
};
