//! The [`Fence`]: leadership state of the process, and the write gate based on it.

use std::fmt;
use std::time::Duration;

use kube_ambient::since_boot;
use kube_controller_client::WriteGate;
#[cfg(feature = "events")]
use kube_controller_client::events::ObjectReference;
use kube_wire::Uid;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::LeaseName;

/// Current leader and term of an election, and a [`WriteGate`] that is open during the term.
///
/// Clones share the state of one election. See [Guarantees of the fence](crate#guarantees-of-the-fence).
#[derive(Clone)]
pub struct Fence {
    #[cfg_attr(not(feature = "events"), expect(dead_code, reason = "for events"))]
    lease: LeaseName,
    state: watch::Receiver<ElectionState>,
}

/// State published by the election.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ElectionState {
    /// Identity of the holder last seen; empty if there was none.
    pub(crate) leader: String,
    /// Term of this process.
    pub(crate) term: Option<FenceTerm>,
    /// UID of the Lease as last seen; empty before.
    pub(crate) uid: Uid,
    /// The election has ended.
    pub(crate) ended: bool,
}

/// A term, on the monotonic clock and on the clock that counts suspend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceTerm {
    pub(crate) renewed: Instant,
    pub(crate) until: Instant,
    /// `until` on the clock that counts suspend; `None` where there is no such clock.
    pub(crate) until_since_boot: Option<Duration>,
    /// Time from which [`Fence::is_overdue`] is true.
    pub(crate) overdue_at: Instant,
}

impl FenceTerm {
    /// Returns the end of the term, or `None` if it has passed on either clock.
    fn open_until(&self, now: Instant, since_boot: Option<Duration>) -> Option<Instant> {
        let expired_during_suspend = match (self.until_since_boot, since_boot) {
            (Some(until), Some(now)) => until <= now,
            _ => false,
        };
        (now < self.until && !expired_during_suspend).then_some(self.until)
    }
}

impl Fence {
    pub(crate) fn new(lease: LeaseName) -> (watch::Sender<ElectionState>, Fence) {
        let (sender, state) = watch::channel(ElectionState::default());
        (sender, Fence { lease, state })
    }

    /// Returns a reference to the Lease for events, without UID before the Lease was read or created.
    #[cfg(feature = "events")]
    pub fn lease(&self) -> ObjectReference {
        let LeaseName { namespace, name } = self.lease.clone();
        let uid = self.state.borrow().uid.clone();
        ObjectReference { namespace, name, uid, ..ObjectReference::of("coordination.k8s.io/v1", "Lease") }
    }

    /// Returns the end of the current term, which each renewal extends; `None` while this process is not the leader.
    ///
    /// A write started now must be sent before that instant.
    pub fn term_end(&self) -> Option<Instant> {
        let term = self.state.borrow().term?;
        term.open_until(Instant::now(), since_boot())
    }

    /// Waits until this process leads. Returns `false` if the election has ended.
    pub async fn wait_until_leading(&mut self) -> bool {
        let state = self.state.wait_for(|state| state.term.is_some() || state.ended).await;
        state.is_ok_and(|state| state.term.is_some())
    }

    /// Returns the identity of the holder last seen; empty if there was none.
    pub fn leader(&self) -> String {
        self.state.borrow().leader.clone()
    }

    /// Waits for the next acquisition, renewal, loss or change of the leader. Returns `false` if the election has ended
    /// and all changes have been returned.
    pub async fn changed(&mut self) -> bool {
        self.state.changed().await.is_ok()
    }

    /// Returns whether this process still counts as the leader although its last renewal is older than the lease
    /// duration plus 20 s (CM-10). The election should have ended by then; a liveness check can restart the process.
    pub fn is_overdue(&self) -> bool {
        self.state.borrow().term.is_some_and(|term| term.overdue_at < Instant::now())
    }
}

/// Open while this process leads.
impl WriteGate for Fence {
    fn open_until(&self) -> Option<Instant> {
        self.term_end()
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fence").field(&*self.state.borrow()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// The fence closes when either the monotonic clock or the clock that counts suspend reaches the end of the term.
    #[rstest]
    #[case::fresh(0, Some(0), true)]
    #[case::last_moment(9_999, Some(9_999), true)]
    #[case::over(10_000, Some(10_000), false)]
    #[case::stopped_process(10_000, None, false)]
    #[case::suspended(1, Some(10_000), false)]
    #[case::no_boot_clock(9_999, None, true)]
    #[tokio::test(start_paused = true)]
    async fn closes_on_either_clock(#[case] millis: u64, #[case] boot_millis: Option<u64>, #[case] open: bool) {
        let (start, booted) = (Instant::now(), Duration::from_secs(1_000_000));
        let ten = Duration::from_secs(10);
        let term = FenceTerm {
            renewed: start,
            until: start + ten,
            until_since_boot: Some(booted + ten),
            overdue_at: start + 4 * ten,
        };
        let since_boot = boot_millis.map(|millis| booted + Duration::from_millis(millis));
        let found = term.open_until(start + Duration::from_millis(millis), since_boot);
        assert_eq!(found, open.then_some(start + ten));
    }

    #[tokio::test(start_paused = true)]
    async fn is_closed_before_and_after_an_election() {
        let (sender, mut fence) = Fence::new(LeaseName::new("kube-system", "it"));
        assert_eq!(fence.term_end(), None);
        sender.send_modify(|state| state.ended = true);
        assert!(!fence.wait_until_leading().await);
        drop(sender);
        assert!(!fence.changed().await, "the election is over");
        assert_eq!(fence.term_end(), None);
    }
}
