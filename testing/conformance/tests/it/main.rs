//! Tests of recordings, hostile scenarios, the player, the program and the contract. One binary: most of them wait, and
//! wait together.

mod as_recorded;
mod canonical;
mod cli;
mod compare;
mod contract;
mod hostile;
mod ours;
mod player;
mod recordings;
