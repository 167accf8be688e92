//! Until when the leader may write.

use std::fmt;
use std::time::Duration;

use kube_ambient::since_boot;
use kube_controller_client::WriteGate;
use tokio::sync::watch;
use tokio::time::Instant;

/// Who leads, as this process knows it, and until when a write may be started in the name of the lease.
///
/// Clones see the same election. See [the front page](crate#what-the-fence-is-worth) for what it is worth.
#[derive(Clone)]
pub struct Fence(watch::Receiver<Standing>);

/// What the election publishes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The holder that was last seen.
    pub(crate) leader: String,
    /// Our own term.
    pub(crate) term: Option<Term>,
    /// Nothing will change any more.
    pub(crate) ended: bool,
}

/// A term on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) renewed: Instant,
    pub(crate) until: Instant,
    /// The same on the clock that counts sleep.
    pub(crate) until_since_boot: Option<Duration>,
    /// When others may take over, and how much more until something must be wrong with us.
    pub(crate) overdue: Instant,
}

impl Term {
    /// The end of the term, unless it has come on either clock.
    fn open_until(&self, now: Instant, since_boot: Option<Duration>) -> Option<Instant> {
        let slept_past = match (self.until_since_boot, since_boot) {
            (Some(until), Some(now)) => until <= now,
            _ => false,
        };
        (now < self.until && !slept_past).then_some(self.until)
    }
}

impl Fence {
    pub(crate) fn new() -> (watch::Sender<Standing>, Fence) {
        let (sender, receiver) = watch::channel(Standing::default());
        (sender, Fence(receiver))
    }

    /// The instant by which whatever is begun now has to be on its way; `None` while this process does not lead.
    ///
    /// It moves on with each renewal.
    pub fn lead(&self) -> Option<Instant> {
        let term = self.0.borrow().term?;
        term.open_until(Instant::now(), since_boot())
    }

    /// Waits until this process leads. `false` when it never will, because the election has ended.
    pub async fn leading(&mut self) -> bool {
        let standing = self.0.wait_for(|standing| standing.term.is_some() || standing.ended).await;
        standing.is_ok_and(|standing| standing.term.is_some())
    }

    /// The identity of the holder that was last seen; empty when there was none.
    pub fn leader(&self) -> String {
        self.0.borrow().leader.clone()
    }

    /// Waits for the next renewal, loss or change of the leader. `false` when there will be none.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }

    /// Whether this process believes to lead though its last renewal is older than the lease duration and 20 s (CM-10):
    /// it should have ended long ago, and something is stuck.
    pub fn is_overdue(&self) -> bool {
        self.0.borrow().term.is_some_and(|term| term.overdue < Instant::now())
    }
}

/// Writes pass while this process leads.
impl WriteGate for Fence {
    fn open_until(&self) -> Option<Instant> {
        self.lead()
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fence").field(&*self.0.borrow()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Each clock alone closes it: the one that tests can pause, and the one that counts sleep.
    #[rstest]
    #[case::fresh(0, Some(0), true)]
    #[case::last_moment(9_999, Some(9_999), true)]
    #[case::over(10_000, Some(10_000), false)]
    #[case::stopped_process(10_000, None, false)]
    #[case::slept(1, Some(10_000), false)]
    #[case::no_such_clock(9_999, None, true)]
    #[tokio::test(start_paused = true)]
    async fn closes_on_either_clock(#[case] millis: u64, #[case] boot_millis: Option<u64>, #[case] open: bool) {
        let (start, booted) = (Instant::now(), Duration::from_secs(1_000_000));
        let ten = Duration::from_secs(10);
        let term =
            Term { renewed: start, until: start + ten, until_since_boot: Some(booted + ten), overdue: start + 4 * ten };
        let since_boot = boot_millis.map(|millis| booted + Duration::from_millis(millis));
        let found = term.open_until(start + Duration::from_millis(millis), since_boot);
        assert_eq!(found, open.then_some(start + ten));
    }

    #[tokio::test(start_paused = true)]
    async fn is_closed_before_and_after_an_election() {
        let (sender, mut fence) = Fence::new();
        assert_eq!(fence.lead(), None);
        sender.send_modify(|standing| standing.ended = true);
        assert!(!fence.leading().await);
        drop(sender);
        assert!(!fence.changed().await || !fence.changed().await);
        assert_eq!(fence.lead(), None);
    }
}
