//! The EndpointSlice mirroring controller of kube-controller-manager.
