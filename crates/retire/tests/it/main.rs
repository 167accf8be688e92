//! Integration tests: plans of seeded clusters, and what stops a run.

mod clusters;
mod first_reader;
mod programs;
