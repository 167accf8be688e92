//! Decoding gives the same objects from every encoding, and encoding loses nothing.

mod fixtures;
mod fuzz;
mod laws;
mod messages;
mod places;
mod renderings;
mod times;
