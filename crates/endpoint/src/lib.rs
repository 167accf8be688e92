//! The Endpoints controller of kube-controller-manager.
