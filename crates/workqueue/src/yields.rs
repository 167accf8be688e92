//! When a worker that finds no key yields its thread before it goes to sleep.
//!
//! On a core that it shares with the producer, a worker that goes to sleep at once is woken by the next key, the kernel
//! hands it the core, and it finds that one key: two switches of threads a key cost more than all else. If instead it
//! gets in line behind the threads that want the core, the producer goes on, and many keys are there when it is back.
//! On a core of its own it is back at once, and no worse off.
//!
//! A thread in that line waits for as long as the kernel lets the others run, some milliseconds. So a yield has to be
//! earned, by hand-outs that are many beside it: a worker to which a key comes now and then hardly ever yields, and a
//! yield that brought little is not repeated soon.

/// Hand-outs that earn one yield. It costs less than a microsecond if nobody else wants the core.
///
/// One for each key lets a model checker go both ways.
const EARNED_BY: u32 = if cfg!(loom) { 1 } else { 16 };

/// Counts from one yield to the next.
#[derive(Debug, Default)]
pub(crate) struct Yields {
    /// The number of hand-outs at the last one.
    last: u32,
}

impl Yields {
    /// Whether a worker that finds no key after so many hand-outs (the number may wrap) is to yield. If so, that one is
    /// spent.
    pub(crate) fn spend(&mut self, handed_out: u32) -> bool {
        let is_earned = handed_out.wrapping_sub(self.last) >= EARNED_BY;
        if is_earned {
            self.last = handed_out;
        }
        is_earned
    }
}

#[cfg(test)]
mod tests {
    use super::{EARNED_BY, Yields};

    #[test]
    fn one_yield_for_so_many_hand_outs() {
        // The number of hand-outs wraps on the way.
        let start = u32::MAX - 2;
        let mut yields = Yields { last: start };
        let mut spend = |hand_outs| yields.spend(start.wrapping_add(hand_outs));
        let spent: Vec<u32> = (0..3 * EARNED_BY).filter(|it| spend(*it)).collect();
        assert_eq!(spent, [EARNED_BY, 2 * EARNED_BY]);
        assert!(spend(9 * EARNED_BY), "however much later");
        assert!(!spend(9 * EARNED_BY + 1), "what was not spent does not add up");
    }
}
