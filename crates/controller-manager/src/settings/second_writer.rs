//! Settings of the detection of a second writer.

use std::time::Duration;

/// When a client of the API server counts as a second writer. The log, metrics and an event about the Lease report one;
/// the controllers write on.
///
/// Writes of others to Endpoints and EndpointSlices that the managed-by label assigns to a running controller count, by
/// field manager. A field manager is a second writer once it has written `objects` different objects, or one object
/// `repeats` times, within `window`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondWriterSettings {
    /// Time in which writes are counted together; 1 min by default.
    pub window: Duration,
    /// Number of different objects, at least 1; 5 by default.
    pub objects: usize,
    /// Number of writes of one object, at least 1; 5 by default.
    pub repeats: usize,
    /// Time without writes by a second writer after which there is none any more; 5 min by default.
    pub quiet: Duration,
}

impl Default for SecondWriterSettings {
    fn default() -> Self {
        SecondWriterSettings {
            window: Duration::from_secs(60),
            objects: 5,
            repeats: 5,
            quiet: Duration::from_secs(5 * 60),
        }
    }
}
