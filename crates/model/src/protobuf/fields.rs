//! Field numbers of the protobuf messages that are decoded and encoded: those of Kubernetes' published `.proto` files.
//! Decoders and encoders share them.

pub(crate) use kube_wire::protobuf::fields::{map_entry, object, object_meta};

/// `metav1.OwnerReference`.
pub(crate) mod owner_reference {
    pub(crate) const KIND: u32 = 1;
    pub(crate) const NAME: u32 = 3;
    pub(crate) const UID: u32 = 4;
    pub(crate) const API_VERSION: u32 = 5;
    pub(crate) const CONTROLLER: u32 = 6;
    pub(crate) const BLOCK_OWNER_DELETION: u32 = 7;
}

/// `metav1.ManagedFieldsEntry`, and the field of `metav1.ObjectMeta` that has them.
pub(crate) mod managed_fields {
    pub(crate) const OF_OBJECT_META: u32 = 17;
    pub(crate) const MANAGER: u32 = 1;
    pub(crate) const TIME: u32 = 4;
}

/// `core.v1.ObjectReference`.
pub(crate) mod object_reference {
    pub(crate) const KIND: u32 = 1;
    pub(crate) const NAMESPACE: u32 = 2;
    pub(crate) const NAME: u32 = 3;
    pub(crate) const UID: u32 = 4;
    pub(crate) const API_VERSION: u32 = 5;
    pub(crate) const RESOURCE_VERSION: u32 = 6;
    pub(crate) const FIELD_PATH: u32 = 7;
}

/// `core.v1.PodSpec`.
pub(crate) mod pod_spec {
    pub(crate) const CONTAINERS: u32 = 2;
    pub(crate) const RESTART_POLICY: u32 = 3;
    pub(crate) const NODE_NAME: u32 = 10;
    pub(crate) const HOSTNAME: u32 = 16;
    pub(crate) const SUBDOMAIN: u32 = 17;
    pub(crate) const INIT_CONTAINERS: u32 = 20;
}

/// `core.v1.Container`.
pub(crate) mod container {
    pub(crate) const PORTS: u32 = 6;
    pub(crate) const RESTART_POLICY: u32 = 24;
}

/// `core.v1.ContainerPort`.
pub(crate) mod container_port {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const CONTAINER_PORT: u32 = 3;
    pub(crate) const PROTOCOL: u32 = 4;
}

/// `core.v1.PodStatus`.
pub(crate) mod pod_status {
    pub(crate) const PHASE: u32 = 1;
    pub(crate) const CONDITIONS: u32 = 2;
    pub(crate) const POD_IP: u32 = 6;
    pub(crate) const POD_IPS: u32 = 12;
}

/// `core.v1.PodCondition`.
pub(crate) mod pod_condition {
    pub(crate) const TYPE: u32 = 1;
    pub(crate) const STATUS: u32 = 2;
    pub(crate) const LAST_TRANSITION_TIME: u32 = 4;
}

/// `core.v1.PodIP`.
pub(crate) mod pod_ip {
    pub(crate) const IP: u32 = 1;
}

/// `core.v1.NodeStatus`.
pub(crate) mod node_status {
    pub(crate) const ALLOCATABLE: u32 = 2;
    pub(crate) const CONDITIONS: u32 = 4;
}

/// `core.v1.NodeCondition`.
pub(crate) mod node_condition {
    pub(crate) const TYPE: u32 = 1;
    pub(crate) const STATUS: u32 = 2;
}

/// `resource.Quantity`.
pub(crate) mod quantity {
    pub(crate) const STRING: u32 = 1;
}

/// `core.v1.ServiceSpec`.
pub(crate) mod service_spec {
    pub(crate) const PORTS: u32 = 1;
    pub(crate) const SELECTOR: u32 = 2;
    pub(crate) const CLUSTER_IP: u32 = 3;
    pub(crate) const TYPE: u32 = 4;
    pub(crate) const PUBLISH_NOT_READY_ADDRESSES: u32 = 13;
    pub(crate) const IP_FAMILIES: u32 = 19;
    pub(crate) const TRAFFIC_DISTRIBUTION: u32 = 23;
}

/// `core.v1.ServicePort`.
pub(crate) mod service_port {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const PROTOCOL: u32 = 2;
    pub(crate) const TARGET_PORT: u32 = 4;
    pub(crate) const APP_PROTOCOL: u32 = 6;
}

/// `intstr.IntOrString`.
pub(crate) mod int_or_string {
    pub(crate) const TYPE: u32 = 1;
    pub(crate) const INT_VAL: u32 = 2;
    pub(crate) const STR_VAL: u32 = 3;
}

/// `core.v1.Endpoints`.
pub(crate) mod endpoints {
    pub(crate) const SUBSETS: u32 = 2;
}

/// `core.v1.EndpointSubset`.
pub(crate) mod endpoint_subset {
    pub(crate) const ADDRESSES: u32 = 1;
    pub(crate) const NOT_READY_ADDRESSES: u32 = 2;
    pub(crate) const PORTS: u32 = 3;
}

/// `core.v1.EndpointAddress`.
pub(crate) mod endpoint_address {
    pub(crate) const IP: u32 = 1;
    pub(crate) const TARGET_REF: u32 = 2;
    pub(crate) const HOSTNAME: u32 = 3;
    pub(crate) const NODE_NAME: u32 = 4;
}

/// `core.v1.EndpointPort`.
pub(crate) mod subset_port {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const PORT: u32 = 2;
    pub(crate) const PROTOCOL: u32 = 3;
    pub(crate) const APP_PROTOCOL: u32 = 4;
}

/// `discovery.v1.EndpointSlice`.
pub(crate) mod endpoint_slice {
    pub(crate) const ENDPOINTS: u32 = 2;
    pub(crate) const PORTS: u32 = 3;
    pub(crate) const ADDRESS_TYPE: u32 = 4;
}

/// `discovery.v1.Endpoint`.
pub(crate) mod endpoint {
    pub(crate) const ADDRESSES: u32 = 1;
    pub(crate) const CONDITIONS: u32 = 2;
    pub(crate) const HOSTNAME: u32 = 3;
    pub(crate) const TARGET_REF: u32 = 4;
    pub(crate) const DEPRECATED_TOPOLOGY: u32 = 5;
    pub(crate) const NODE_NAME: u32 = 6;
    pub(crate) const ZONE: u32 = 7;
    pub(crate) const HINTS: u32 = 8;
}

/// `discovery.v1.EndpointConditions`.
pub(crate) mod endpoint_conditions {
    pub(crate) const READY: u32 = 1;
    pub(crate) const SERVING: u32 = 2;
    pub(crate) const TERMINATING: u32 = 3;
}

/// `discovery.v1.EndpointHints`.
pub(crate) mod endpoint_hints {
    pub(crate) const FOR_ZONES: u32 = 1;
    pub(crate) const FOR_NODES: u32 = 2;
}

/// `discovery.v1.ForZone` and `discovery.v1.ForNode`.
pub(crate) mod named_hint {
    pub(crate) const NAME: u32 = 1;
}

/// `discovery.v1.EndpointPort`.
pub(crate) mod endpoint_port {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const PROTOCOL: u32 = 2;
    pub(crate) const PORT: u32 = 3;
    pub(crate) const APP_PROTOCOL: u32 = 4;
}
