//! What the endpoint controllers know of a cluster: compact objects, selection, membership. Pure.
