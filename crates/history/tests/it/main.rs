//! Laws of recorded histories, and what damaged files do.

#[cfg(feature = "audit")]
mod audit;
mod clusters;
mod damaged;
mod excerpt;
mod fuzz;
mod laws;
mod recording;
mod size;
#[cfg(feature = "causes")]
mod timeline;
mod unknown;
