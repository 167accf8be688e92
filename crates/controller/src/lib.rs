//! The loop every controller runs: workers over a queue, retries, supervision and shutdown.
