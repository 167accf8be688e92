//! The generic EndpointSlice reconciler and the EndpointSlice controller.
