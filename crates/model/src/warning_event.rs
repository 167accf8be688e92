//! Events that plans ask for.

/// Warning event about the object of a plan, to record whether or not its writes succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarningEvent {
    /// Reason of the event: one word in `CamelCase`.
    pub reason: &'static str,
    /// Message of the event.
    pub message: String,
}
