//! A keyed work queue for controllers: each key once, delays, rate limits, requeue counts.
