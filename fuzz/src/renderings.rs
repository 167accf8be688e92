//! Other texts and bytes with the same meaning for Go's decoders. What is decoded from them must be equal.
//!
//! The renderers know nothing of the decoders that they test: they work on documents and messages, led by what [`Shape`] says of
//! the Go types.

mod json;
mod protobuf;
pub mod shapes;

pub use self::{json::render as json, protobuf::render as protobuf, shapes::Shape};

/// A stream of decisions that a seed determines.
#[derive(Debug)]
pub struct Choices(u64);

impl Choices {
    /// The same seed, the same decisions.
    pub fn new(seed: &[u8]) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.iter().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    /// One of so many possibilities.
    fn one_of(&mut self, count: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = (bits ^ (bits >> 31)) >> 33;
        usize::try_from(bits).unwrap_or_default() % count.max(1)
    }

    /// True once in so many times.
    fn once_in(&mut self, count: usize) -> bool {
        self.one_of(count) == 0
    }

    /// Puts the items into another order in which those of one group follow each other as before.
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
