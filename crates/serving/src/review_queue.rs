//! The queue of reviews of credentials and paths that were not accepted before: limited in rate and in length.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::pacer::Pacer;
use crate::peer::Peer;
use crate::reviewer::NoAnswer;

/// Maximum number of these reviews in any second.
const PER_SECOND: usize = 20;
/// Maximum number of these reviews that wait: those of one second.
const MAX_WAITING: usize = PER_SECOND;
/// Maximum number of them that one client lets wait, so that one client cannot fill the queue.
const MAX_WAITING_OF_A_PEER: usize = MAX_WAITING / 2;
/// Maximum number of these reviews in flight.
const MAX_IN_FLIGHT: usize = 8;

/// Number of waiting reviews of each client.
#[derive(Debug, Default)]
struct Waiting {
    all: usize,
    of_peers: HashMap<Peer, usize>,
}

impl Waiting {
    fn enter(&mut self, peer: Peer) -> Result<(), NoAnswer> {
        let of_peer = self.of_peers.get(&peer).copied().unwrap_or_default();
        if self.all >= MAX_WAITING || of_peer >= MAX_WAITING_OF_A_PEER {
            return Err(NoAnswer::QueueIsFull);
        }
        self.all += 1;
        self.of_peers.insert(peer, of_peer + 1);
        Ok(())
    }

    fn leave(&mut self, peer: Peer) {
        self.all = self.all.saturating_sub(1);
        match self.of_peers.get_mut(&peer) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.of_peers.remove(&peer)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct ReviewQueue {
    waiting: Mutex<Waiting>,
    in_flight: Semaphore,
    pacer: Pacer,
}

impl ReviewQueue {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            in_flight: Semaphore::new(MAX_IN_FLIGHT),
            pacer: Pacer::new(PER_SECOND, Duration::from_secs(1)),
        }
    }

    /// Waits until a review for `peer` may be sent. The permit has to be kept until it was answered.
    ///
    /// # Errors
    ///
    /// [`NoAnswer::QueueIsFull`], without waiting.
    pub(crate) async fn turn(&self, peer: Peer) -> Result<Option<SemaphorePermit<'_>>, NoAnswer> {
        self.waiting().enter(peer)?;
        let _place = Place { queue: self, peer };
        // The semaphore is never closed.
        let permit = self.in_flight.acquire().await.ok();
        self.pacer.turn().await;
        Ok(permit)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Place in the queue, left when dropped: after the wait, or if the client has closed the connection.
struct Place<'a> {
    queue: &'a ReviewQueue,
    peer: Peer,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.waiting().leave(self.peer);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use tokio::task::{JoinSet, yield_now};
    use tokio::time::{Instant, sleep};

    use super::*;

    fn peer(number: u8) -> Peer {
        Peer::from(IpAddr::from([10, 0, 0, number]))
    }

    #[test]
    fn queue_and_share_of_a_client_are_limited() {
        let mut waiting = Waiting::default();
        assert_eq!((0..30).filter(|_| waiting.enter(peer(1)).is_ok()).count(), MAX_WAITING_OF_A_PEER);
        assert_eq!((0..30).filter(|_| waiting.enter(peer(2)).is_ok()).count(), MAX_WAITING - MAX_WAITING_OF_A_PEER);
        assert_eq!(waiting.enter(peer(3)), Err(NoAnswer::QueueIsFull));
        waiting.leave(peer(1));
        assert_eq!(waiting.enter(peer(2)), Err(NoAnswer::QueueIsFull), "the client's share is used up");
        assert_eq!(waiting.enter(peer(3)), Ok(()));
        for _ in 0..MAX_WAITING {
            (1..=3).for_each(|number| waiting.leave(peer(number)));
        }
        assert!(waiting.all == 0 && waiting.of_peers.is_empty(), "{waiting:?}");
    }

    /// 100 requests per second of each of three clients, for 5 s.
    #[tokio::test(start_paused = true)]
    async fn flood_leads_to_20_reviews_per_second() {
        let (queue, start) = (Arc::new(ReviewQueue::new()), Instant::now());
        let mut requests = JoinSet::new();
        for _ in 0..500 {
            for number in 1..=3 {
                let queue = Arc::clone(&queue);
                requests.spawn(async move {
                    let since = Instant::now();
                    let permit = queue.turn(peer(number)).await;
                    permit.map(|_| (start.elapsed(), since.elapsed()))
                });
            }
            sleep(Duration::from_millis(10)).await;
        }
        let results = requests.join_all().await;
        let (sent, waited): (Vec<Duration>, Vec<Duration>) = results.iter().flatten().copied().unzip();
        let second = Duration::from_secs(1);
        for at in &sent {
            let next_second = sent.iter().filter(|it| (*at..*at + second).contains(*it)).count();
            assert!(next_second <= PER_SECOND, "{next_second} in the second after {at:?}");
        }
        assert!((100..=140).contains(&sent.len()), "{}", sent.len());
        let longest = waited.into_iter().max().unwrap();
        assert!(longest <= second + Duration::from_millis(10), "{longest:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_are_cancelled_free_their_places_and_use_up_no_turn() {
        let queue = Arc::new(ReviewQueue::new());
        for _ in 0..PER_SECOND {
            queue.turn(peer(1)).await.unwrap();
        }
        for _ in 0..10 {
            let mut waiting = JoinSet::new();
            for _ in 0..MAX_WAITING_OF_A_PEER {
                let queue = Arc::clone(&queue);
                waiting.spawn(async move { queue.turn(peer(1)).await.map(drop) });
            }
            yield_now().await;
            assert_eq!(queue.turn(peer(1)).await.err(), Some(NoAnswer::QueueIsFull));
            waiting.shutdown().await;
        }
        let start = Instant::now();
        queue.turn(peer(1)).await.unwrap();
        assert!(start.elapsed() <= Duration::from_secs(1), "{:?}", start.elapsed());
    }
}
