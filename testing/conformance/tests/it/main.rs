//! Tests of recordings, hostile scenarios, the player, the program and the contract. One binary: most of them wait, and
//! wait together.

mod canonical;
mod compare;
mod contract;
mod hostile;
mod kit;
mod ours;
mod player;
mod recordings;
mod replay;
