//! Labels, annotations and other literals of the Kubernetes API that the controllers read or write.

/// Label of an EndpointSlice: name of its Service.
pub const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";
/// Label of an EndpointSlice: name of the controller that manages it.
pub const SLICE_MANAGED_BY_LABEL: &str = "endpointslice.kubernetes.io/managed-by";
/// Label of an Endpoints object: it is not mirrored if the value is exactly `true`.
pub const SKIP_MIRROR_LABEL: &str = "endpointslice.kubernetes.io/skip-mirror";
/// Label of an Endpoints object: name of the controller that manages it.
pub const ENDPOINTS_MANAGED_BY_LABEL: &str = "endpoints.kubernetes.io/managed-by";
/// Label with an empty value: the Endpoints object or slice belongs to a Service without a cluster IP.
pub const HEADLESS_LABEL: &str = "service.kubernetes.io/headless";
/// Label of a Service or slice: the name of the proxy that handles it. kube-proxy ignores all that have it.
pub const SERVICE_PROXY_NAME_LABEL: &str = "service.kubernetes.io/service-proxy-name";
/// Annotation of Endpoints and slices: time of the change that led to the last write.
pub const TRIGGER_TIME_ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// Annotation of an Endpoints object that exceeds the maximum number of addresses.
pub const OVER_CAPACITY_ANNOTATION: &str = "endpoints.kubernetes.io/over-capacity";
/// Annotation of an Endpoints object that old clients use as a lock for leader election.
pub const LEADER_ANNOTATION: &str = "control-plane.alpha.kubernetes.io/leader";
/// Annotation of `kubectl apply`; never mirrored.
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Annotation of a Service: enables topology hints (`Auto`).
pub(crate) const TOPOLOGY_MODE_ANNOTATION: &str = "service.kubernetes.io/topology-mode";
/// Deprecated form of [`TOPOLOGY_MODE_ANNOTATION`]; takes precedence if both are present.
pub(crate) const TOPOLOGY_HINTS_ANNOTATION: &str = "service.kubernetes.io/topology-aware-hints";
/// Annotation of a Service, read by Kubernetes before 1.24: whether Pods that are not ready are published.
pub const TOLERATE_UNREADY_ANNOTATION: &str = "service.alpha.kubernetes.io/tolerate-unready-endpoints";
/// Label of Nodes: the zone.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// Label of Nodes that run the control plane.
pub const CONTROL_PLANE_LABEL: &str = "node-role.kubernetes.io/control-plane";
/// Deprecated form of [`CONTROL_PLANE_LABEL`].
pub const MASTER_LABEL: &str = "node-role.kubernetes.io/master";

/// Value of [`ENDPOINTS_MANAGED_BY_LABEL`] that the Endpoints controller writes.
pub const ENDPOINTS_CONTROLLER: &str = "endpoint-controller";
/// Value of [`SLICE_MANAGED_BY_LABEL`] that the slice controller writes.
pub const SLICE_CONTROLLER: &str = "endpointslice-controller.k8s.io";
/// Value of [`SLICE_MANAGED_BY_LABEL`] that the mirroring controller writes.
pub const MIRRORING_CONTROLLER: &str = "endpointslicemirroring-controller.k8s.io";

/// Name of the Endpoints controller in `--controllers` of kube-controller-manager.
pub const ENDPOINTS_CONTROLLER_NAME: &str = "endpoints-controller";
/// Name of the EndpointSlice controller in `--controllers` of kube-controller-manager.
pub const SLICE_CONTROLLER_NAME: &str = "endpointslice-controller";
/// Name of the EndpointSlice mirroring controller in `--controllers` of kube-controller-manager.
pub const MIRRORING_CONTROLLER_NAME: &str = "endpointslice-mirroring-controller";

/// The cluster IP of a headless Service.
pub(crate) const CLUSTER_IP_NONE: &str = "None";
