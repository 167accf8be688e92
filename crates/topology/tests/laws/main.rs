//! Properties of hints for arbitrary slices, zones and Nodes.

mod reference;
mod topology;
mod traffic;
mod world;
