//! What holds for hints whatever the slices, the zones and the Nodes are.

mod reference;
mod topology;
mod traffic;
mod world;
