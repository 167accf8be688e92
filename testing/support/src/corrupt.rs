//! Random corruption of response bodies.

use rand::{RngExt as _, rngs::StdRng};

/// Flips bits, and removes, duplicates, overwrites or truncates bytes at random positions.
pub fn corrupt(body: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..8) {
        if body.is_empty() {
            return;
        }
        let at = random.random_range(0..body.len());
        let until = (at + random.random_range(1..64)).min(body.len());
        match random.random_range(0..5) {
            0 => body[at] ^= 1 << random.random_range(0..8),
            1 => body[at] = [0, 0xff, b'"', b'{', b'}', b'\\'][random.random_range(0..6)],
            2 => drop(body.drain(at..until)),
            3 => {
                let again = body[at..until].to_vec();
                body.splice(at..at, again);
            }
            _ => body.truncate(at),
        }
    }
}
