//! Receivers of Kubernetes Events about owners.

use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};

use crate::owner::Owner;

/// Receiver of Kubernetes Events about owners, such as an [`EventRecorder`]; `()` drops them.
pub trait EventSink: Send + Sync {
    /// Emits an event about an owner. Must not block.
    fn event(&self, about: &Owner, event_type: EventType, reason: &str, message: String);
}

impl EventSink for EventRecorder {
    fn event(&self, about: &Owner, event_type: EventType, reason: &str, message: String) {
        let reference = ObjectReference {
            namespace: about.namespace.to_string(),
            name: about.name.to_string(),
            uid: about.uid.clone(),
            resource_version: about.resource_version.clone(),
            ..ObjectReference::of(&about.api_version, &about.kind)
        };
        EventRecorder::event(self, &reference, event_type, reason, message);
    }
}

/// Drops all events.
impl EventSink for () {
    fn event(&self, _: &Owner, _: EventType, _: &str, _: String) {}
}
