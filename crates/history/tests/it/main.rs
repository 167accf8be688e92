//! Laws of recorded histories, and what damaged files do.

mod apps;
#[cfg(feature = "audit")]
mod audit;
mod clusters;
#[cfg(feature = "recorder")]
mod crashes;
mod damaged;
mod excerpt;
mod frames;
mod fuzz;
mod laws;
mod recording;
mod size;
#[cfg(feature = "causes")]
mod summary;
#[cfg(feature = "causes")]
mod summary_law;
#[cfg(feature = "html")]
mod summary_page;
#[cfg(feature = "causes")]
mod timeline;
mod unknown;
