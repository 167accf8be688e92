#![doc = include_str!("../README.md")]

mod archive;
#[cfg(feature = "audit")]
pub mod audit;
mod change;
mod codec;
mod delta;
mod encoder;
mod error;
mod excerpt;
mod frame;
mod group;
mod header;
mod index;
mod lookup;
mod object;
#[cfg(feature = "recorder")]
pub mod recorder;
mod records;
mod replay;
mod select;
#[cfg(feature = "causes")]
pub mod summary;
#[cfg(feature = "causes")]
pub mod timeline;

pub use archive::Archive;
pub use change::{Action, Author, Change, Gap, UnknownWrite, What};
pub use encoder::Encoder;
pub use error::ReadError;
pub use excerpt::ExcerptError;
pub use header::{FORMAT, Header};
pub use object::{Kind, Recorded};
pub use replay::Replay;
pub use select::Select;
#[cfg(feature = "causes")]
pub use summary::Summary;
#[cfg(feature = "causes")]
pub use timeline::Timeline;
