//! What controllers report that upstream has no name for.

/// What the syncs of one controller report of themselves. Each method does nothing by default.
pub trait ControllerMetrics: Send + Sync {
    /// A key was out of retries (EC-36).
    fn out_of_retries(&self) {}
}

/// Reports nothing.
impl ControllerMetrics for () {}
