//! Topology hints and traffic distribution for EndpointSlices. Pure.
