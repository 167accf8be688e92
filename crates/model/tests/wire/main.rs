//! Decoding gives the same objects from every encoding, and encoding loses nothing.

mod errors;
mod fixtures;
mod fuzz;
mod messages;
mod properties;
mod renderings;
mod times;
