//! How long a change takes: from what woke a key to the acknowledged write.

mod waits;

use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use self::waits::{Causes, Marks, Waits, lag};
use crate::locked;

/// The parts of the time from a change to its acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// From the change itself, where its object says when that was, until a handler saw it. As exact as what the object
    /// says: Kubernetes cuts times off to whole seconds, so that this is up to a second too long, and they are those of
    /// another machine's clock. For the end of an object it is the most it can have been: what is known is when the object
    /// was asked to end, or wrote last, not when it was removed. What seems to come from the future counts as nothing.
    pub watch: Option<Duration>,
    /// From the first event of the cause until the sync that wrote began: batching, delays and retries included.
    pub queue: Duration,
    /// From then until it was known what to write.
    pub compute: Duration,
    /// From then until the API server had acknowledged every write, waits for the rate limit of the client included.
    pub api: Duration,
}

impl Stages {
    /// The whole time: from the change itself where that is known, otherwise from when a handler saw it.
    pub fn total(&self) -> Duration {
        self.watch.unwrap_or_default() + self.queue + self.compute + self.api
    }
}

/// Who is told how long changes took.
pub trait PropagationMetrics: Send + Sync {
    /// A change of this cause was written. One of a few fixed names.
    fn propagated(&self, cause: &'static str, stages: Stages);
}

/// Follows the keys of one controller from what wakes them to what is written for them. Clones share what they know.
///
/// `K` are keys, `C` the causes that are told apart: a small enum with names. Handlers wake keys with a [`KeyWaker`](crate::KeyWaker), a
/// sync [takes](Self::take) its [`Turn`]. Several events of one cause before a sync count
/// once, as long as the first took; a sync that writes nothing is not told of; one that fails leaves its causes to the
/// next. Nothing is kept for keys that do not wait, and without metrics nothing is done and no clock is read.
#[derive(Debug)]
pub struct Propagation<K, C> {
    shared: Option<Arc<Shared<K, C>>>,
}

struct Shared<K, C> {
    waits: Mutex<Waits<K, C>>,
    metrics: Arc<dyn PropagationMetrics>,
}

impl<K, C> std::fmt::Debug for Shared<K, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl<K, C> Clone for Propagation<K, C> {
    fn clone(&self) -> Self {
        Propagation { shared: self.shared.clone() }
    }
}

impl<K: Clone + Eq + Hash, C: Copy + Eq + Into<&'static str>> Propagation<K, C> {
    /// Tells `metrics`, or nobody.
    pub fn new(metrics: Option<Arc<dyn PropagationMetrics>>) -> Self {
        let shared = metrics.map(|metrics| Arc::new(Shared { waits: Mutex::default(), metrics }));
        Propagation { shared }
    }

    /// A handler sees a change that wakes `key`: to be called before the key is queued, so that the sync finds it.
    pub(crate) fn woken<W: Into<(C, Option<SystemTime>)>>(&self, key: &K, change: impl FnOnce() -> Option<W>) {
        let Some(shared) = &self.shared else { return };
        let Some((cause, since)) = change().map(Into::into) else { return };
        let lag = since.map(|since| lag(since, kube_ambient::now().into()));
        let seen = Instant::now().into_std();
        locked(&shared.waits).woken(key, cause, lag, seen);
    }

    /// A sync of `key` begins.
    pub fn take(&self, key: &K) -> Turn<'_, K, C> {
        let turn = self.shared.as_deref().and_then(|shared| {
            let causes = locked(&shared.waits).take(key)?;
            let (key, taken) = (key.clone(), Instant::now());
            Some(UnderWay { shared, key, causes, taken, planned: None })
        });
        Turn(turn)
    }
}

/// One sync of a key, from [`Propagation::take`].
#[must_use = "what comes of the sync decides what becomes of its causes"]
#[derive(Debug)]
pub struct Turn<'a, K, C>(Option<UnderWay<'a, K, C>>);

#[derive(Debug)]
struct UnderWay<'a, K, C> {
    shared: &'a Shared<K, C>,
    key: K,
    causes: Causes<C>,
    taken: Instant,
    planned: Option<Instant>,
}

impl<K: Clone + Eq + Hash, C: Copy + Eq + Into<&'static str>> Turn<'_, K, C> {
    /// It is known what to write, and that is something: the first request comes next.
    pub fn writing(&mut self) {
        if let Some(turn) = &mut self.0 {
            turn.planned = Some(Instant::now());
        }
    }

    /// There was nothing to write after all: what was to be deleted is gone.
    pub fn wrote_nothing(&mut self) {
        if let Some(turn) = &mut self.0 {
            turn.planned = None;
        }
    }

    /// The sync ended. If it went well and wrote, all was acknowledged by now; if it did not go well, it is tried again.
    pub fn end<E>(self, result: &Result<(), E>) {
        let Some(UnderWay { shared, key, causes, taken, planned }) = self.0 else { return };
        match (result, planned) {
            (Ok(()), Some(planned)) => {
                let (taken, planned, written) = (taken.into_std(), planned.into_std(), Instant::now().into_std());
                for (cause, stages) in causes.stages(Marks { taken, planned, written }) {
                    shared.metrics.propagated(cause.into(), stages);
                }
            }
            (Ok(()), None) => {}
            (Err(_), _) => locked(&shared.waits).put_back(key, causes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Ready;

    impl From<Ready> for &'static str {
        fn from(_: Ready) -> Self {
            "ready"
        }
    }

    #[derive(Default)]
    struct Told(Mutex<Vec<(&'static str, Stages)>>);

    impl PropagationMetrics for Told {
        fn propagated(&self, cause: &'static str, stages: Stages) {
            locked(&self.0).push((cause, stages));
        }
    }

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_followed_through_syncs_that_fail_to_the_one_that_writes() {
        let told = Arc::new(Told::default());
        let propagation = Propagation::new(Some(told.clone()));
        let key = "web".to_owned();
        propagation.woken(&key, || Some((Ready, None)));
        for result in [Err("refused"), Err("refused again")] {
            advance(ms(100)).await;
            let mut turn = propagation.take(&key);
            turn.writing();
            turn.end(&result);
        }
        assert!(locked(&told.0).is_empty(), "nothing was written");

        advance(ms(100)).await;
        let mut turn = propagation.take(&key);
        advance(ms(10)).await;
        turn.writing();
        advance(ms(20)).await;
        turn.end::<()>(&Ok(()));
        let stages = Stages { watch: None, queue: ms(300), compute: ms(10), api: ms(20) };
        assert_eq!(*locked(&told.0), [("ready", stages)]);
        assert_eq!(stages.total(), ms(330));

        let mut turn = propagation.take(&key);
        turn.writing();
        turn.end::<()>(&Ok(()));
        assert_eq!(locked(&told.0).len(), 1, "nothing woke it");
    }

    #[tokio::test(start_paused = true)]
    async fn neither_nothing_to_write_nor_no_news_is_told_of() {
        let told = Arc::new(Told::default());
        let propagation = Propagation::new(Some(told.clone()));
        propagation.woken(&1, || Some((Ready, None)));
        propagation.take(&1).end::<()>(&Ok(()));
        propagation.woken(&1, || Some((Ready, None)));
        let mut turn = propagation.take(&1);
        turn.writing();
        turn.wrote_nothing();
        turn.end::<()>(&Ok(()));
        let mut turn = propagation.take(&1);
        turn.writing();
        turn.end::<()>(&Ok(()));
        propagation.woken(&1, || None::<(Ready, _)>);
        let mut turn = propagation.take(&1);
        turn.writing();
        turn.end::<()>(&Ok(()));
        assert!(locked(&told.0).is_empty());
    }

    #[test]
    fn without_metrics_nothing_is_kept() {
        let propagation = Propagation::<u8, Ready>::new(None);
        propagation.woken(&1, || -> Option<(Ready, _)> { panic!("nobody wants to know") });
        assert!(propagation.take(&1).0.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_before_now_is_a_lag() {
        let told = Arc::new(Told::default());
        let propagation = Propagation::new(Some(told.clone()));
        propagation.woken(&1, || Some((Ready, Some(SystemTime::UNIX_EPOCH))));
        let mut turn = propagation.take(&1);
        turn.writing();
        turn.end::<()>(&Ok(()));
        assert!(locked(&told.0)[0].1.watch.is_some_and(|lag| lag > Duration::from_secs(365 * 24 * 60 * 60)));
    }
}
