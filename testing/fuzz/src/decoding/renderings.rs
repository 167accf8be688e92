//! Renderings: encodings of an object with the same meaning for Go's decoders, which must decode to equal objects.
//!
//! The renderers share no code with the decoders under test. They work on documents and messages, and on the
//! descriptions of the Go types by [`Shape`].

mod json;
mod protobuf;
mod shapes;

pub use self::{json::render as json, protobuf::render as protobuf, shapes::Shape};

/// Pseudo-random decisions, determined by a seed.
#[derive(Debug)]
pub struct Choices(u64);

impl Choices {
    /// Creates decisions from a seed. Equal seeds give equal decisions.
    pub fn new(seed: &[u8]) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.iter().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    /// Returns a number below `count`.
    fn one_of(&mut self, count: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = (bits ^ (bits >> 31)) >> 33;
        usize::try_from(bits).unwrap_or_default() % count.max(1)
    }

    /// Returns true with a probability of 1 / `count`.
    fn once_in(&mut self, count: usize) -> bool {
        self.one_of(count) == 0
    }

    /// Shuffles the items, but preserves the relative order of items of the same group.
    fn shuffle<T>(&mut self, items: Vec<(u64, T)>) -> Vec<T> {
        let mut ranked: Vec<(usize, u64, T)> =
            items.into_iter().map(|(group, it)| (self.one_of(1 << 20), group, it)).collect();
        let mut groups: Vec<u64> = ranked.iter().map(|(_, group, _)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let mut ranks: Vec<usize> = ranked.iter().filter(|it| it.1 == group).map(|it| it.0).collect();
            ranks.sort_unstable();
            for (item, rank) in ranked.iter_mut().filter(|it| it.1 == group).zip(ranks) {
                item.0 = rank;
            }
        }
        ranked.sort_by_key(|(rank, _, _)| *rank);
        ranked.into_iter().map(|(_, _, it)| it).collect()
    }
}
