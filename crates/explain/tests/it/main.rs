//! Tests of explanations: laws over recordings and random worlds, and Services that are broken on purpose.

mod broken;
mod check;
mod cluster;
mod law;
mod page;
mod random;
mod recordings;
mod sample;
mod unknown;
