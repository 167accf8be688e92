//! Simulation of clocks and random numbers on one thread.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

thread_local! {
    static CURRENT: RefCell<Option<Simulation>> = const { RefCell::new(None) };
}

/// Wall clock and boot-time clock of a simulation, as functions.
pub struct Clock {
    /// Returns the wall-clock time, for [`now`](crate::now).
    pub now: Box<dyn Fn() -> Timestamp>,
    /// Returns the time since boot, for `since_boot`.
    pub since_boot: Box<dyn Fn() -> Duration>,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Simulation {
    clock: Rc<Clock>,
    generator: Rc<RefCell<Xoshiro256PlusPlus>>,
}

/// Replaces the clocks and the random numbers of this thread until the returned guard is dropped.
///
/// Random numbers come from a new xoshiro256++ generator whose state is `seed` expanded by `SplitMix64`, so a seed
/// gives the same numbers on every platform. Simulations nest: the innermost one is active, and dropping its guard
/// restores the previous one. Guards must be dropped in the reverse order of their creation. Other threads are not
/// affected, including those started by this one.
#[must_use = "the simulation ends when the guard is dropped"]
pub fn simulate(seed: u64, clock: Clock) -> Simulated {
    let generator = Rc::new(RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed)));
    let simulation = Simulation { clock: Rc::new(clock), generator };
    Simulated { previous: CURRENT.replace(Some(simulation)) }
}

/// Guard of [`simulate`]: restores the previous simulation, or the system, when dropped. It is not `Send`.
pub struct Simulated {
    /// Simulation to restore. Its `Rc`s make the guard `!Send`.
    previous: Option<Simulation>,
}

impl Drop for Simulated {
    fn drop(&mut self) {
        // Fails only after the thread-local value was destroyed, at the end of the thread.
        let _ = CURRENT.try_with(|current| current.replace(self.previous.take()));
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

/// Returns the clocks of the active simulation. They are cloned so that no borrow is held while a clock calls this
/// crate.
pub(crate) fn clock() -> Option<Rc<Clock>> {
    current(|simulation| Rc::clone(&simulation.clock))
}

pub(crate) fn generator() -> Option<Rc<RefCell<Xoshiro256PlusPlus>>> {
    current(|simulation| Rc::clone(&simulation.generator))
}

fn current<T>(read: impl FnOnce(&Simulation) -> T) -> Option<T> {
    // Destructors of other thread-local values may run after this one was destroyed.
    CURRENT.try_with(|current| current.borrow().as_ref().map(read)).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{now, random, random_range};

    fn clock(second: i64) -> Clock {
        let now = Timestamp::from_second(second).unwrap();
        Clock { now: Box::new(move || now), since_boot: Box::new(|| Duration::from_secs(7)) }
    }

    fn numbers(seed: u64) -> (Vec<u64>, Vec<usize>) {
        let _simulated = simulate(seed, clock(0));
        ((0..8).map(|_| random()).collect(), (0..8).map(|_| random_range(0..27)).collect())
    }

    #[test]
    fn equal_seeds_give_equal_numbers() {
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        let _outer = simulate(1, clock(0));
        let _: u64 = random();
        assert_eq!(numbers(1), numbers(1), "independent of numbers drawn before");
    }

    // Recorded seeds must stay reproducible on other machines and after updates of dependencies.
    #[test]
    fn numbers_of_a_seed_are_fixed() {
        let (numbers, letters) = numbers(42);
        assert_eq!(numbers[..2], [15_021_278_609_987_233_951, 5_881_210_131_331_364_753]);
        assert_eq!(letters, [5, 25, 15, 22, 18, 1, 10, 14]);
    }

    #[test]
    fn simulated_clocks_are_read() {
        let _simulated = simulate(1, clock(1_000));
        assert_eq!(now(), Timestamp::from_second(1_000).unwrap());
        assert_eq!(crate::since_boot(), Some(Duration::from_secs(7)));
    }

    #[test]
    fn dropped_guard_restores_the_previous_simulation() {
        let real = now();
        let outer = simulate(1, clock(1_000));
        let first: u64 = random();
        {
            let _inner = simulate(2, clock(2_000));
            assert_eq!(now().as_second(), 2_000);
            let _: u64 = random();
        }
        assert_eq!(now().as_second(), 1_000);
        let second: u64 = random();
        drop(outer);
        assert!(now() >= real);
        let _simulated = simulate(1, clock(1_000));
        assert_eq!((first, second), (random(), random()), "the inner simulation has its own generator");
    }

    #[test]
    fn other_threads_are_not_affected() {
        let real = now();
        let _simulated = simulate(1, clock(1_000));
        let other = thread::spawn(|| (now(), random::<u64>()));
        let (time, number) = other.join().unwrap();
        assert!(time >= real);
        assert_ne!(number, random());
    }

    #[test]
    fn clock_may_draw_random_numbers() {
        let now = || Timestamp::from_second(random_range(1..=1)).unwrap_or_default();
        let _simulated = simulate(1, Clock { now: Box::new(now), ..clock(0) });
        assert_eq!(crate::now().as_second(), 1);
    }
}
