//! Properties of hints for arbitrary slices, zones and Nodes.

mod reference;
mod strategies;
mod topology;
mod traffic;
