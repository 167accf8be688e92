//! Labels, annotations and other literals of the Kubernetes API that these controllers read or write.

/// Label of an EndpointSlice: the Service it belongs to.
pub const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";
/// Label of an EndpointSlice: the controller that manages it.
pub const SLICE_MANAGED_BY_LABEL: &str = "endpointslice.kubernetes.io/managed-by";
/// Label of an Endpoints object: not to be mirrored when exactly `true`.
pub const SKIP_MIRROR_LABEL: &str = "endpointslice.kubernetes.io/skip-mirror";
/// Label of an Endpoints object: the controller that manages it.
pub const ENDPOINTS_MANAGED_BY_LABEL: &str = "endpoints.kubernetes.io/managed-by";
/// Label, with an empty value, of what belongs to a Service without a cluster IP.
pub const HEADLESS_LABEL: &str = "service.kubernetes.io/headless";
/// Annotation: when the change happened that led to the last write.
pub const TRIGGER_TIME_ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// Annotation of an Endpoints object that could not hold all its addresses.
pub const OVER_CAPACITY_ANNOTATION: &str = "endpoints.kubernetes.io/over-capacity";
/// Annotation of an Endpoints object that old clients elect leaders with.
pub const LEADER_ANNOTATION: &str = "control-plane.alpha.kubernetes.io/leader";
/// Annotation that kubectl keeps for itself; never mirrored.
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Annotation of a Service: topology hints on (`Auto`) or off.
pub const TOPOLOGY_MODE_ANNOTATION: &str = "service.kubernetes.io/topology-mode";
/// The older annotation, which wins where both are present.
pub const TOPOLOGY_HINTS_ANNOTATION: &str = "service.kubernetes.io/topology-aware-hints";
/// Annotation of a Service, read by upstream before 1.24: whether Pods that are not ready are published.
pub const TOLERATE_UNREADY_ANNOTATION: &str = "service.alpha.kubernetes.io/tolerate-unready-endpoints";
/// Label of a Node: its zone.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// Label of a Node that takes part in the control plane.
pub const CONTROL_PLANE_LABEL: &str = "node-role.kubernetes.io/control-plane";
/// The older label of such a Node.
pub const MASTER_LABEL: &str = "node-role.kubernetes.io/master";

/// What the Endpoints controller writes as [`ENDPOINTS_MANAGED_BY_LABEL`].
pub const ENDPOINTS_CONTROLLER: &str = "endpoint-controller";
/// What the slice controller writes as [`SLICE_MANAGED_BY_LABEL`].
pub const SLICE_CONTROLLER: &str = "endpointslice-controller.k8s.io";
/// What the mirroring controller writes as [`SLICE_MANAGED_BY_LABEL`].
pub const MIRRORING_CONTROLLER: &str = "endpointslicemirroring-controller.k8s.io";

/// The cluster IP of a headless Service.
pub const CLUSTER_IP_NONE: &str = "None";
