//! Decoding gives the same objects from every encoding, and encoding loses nothing. Indexes and subsets are as a simple
//! implementation has them.

mod errors;
mod fixtures;
mod fuzz;
mod indexes;
mod messages;
mod properties;
mod renderings;
mod subsets;
mod times;
