//! Integration tests: plans of seeded clusters.

mod clusters;
mod programs;
