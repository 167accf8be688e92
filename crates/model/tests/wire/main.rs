//! Objects come out the same, however they are read, and what is written back loses nothing.

mod fixtures;
mod fuzz;
mod laws;
mod messages;
mod places;
mod renderings;
mod times;
