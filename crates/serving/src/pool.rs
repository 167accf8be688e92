//! Which connection is closed if there are too many.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use crate::peer::Peer;

/// Stage of a connection. Each has its own limit, so that connections of an earlier one cannot displace those of a later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// The client has sent nothing, or the rate of handshakes is at its limit.
    Waiting,
    /// The handshake, if there is one, has begun, and the client has not proved who it is.
    Anonymous,
    /// The client has authenticated itself, by certificate or token.
    Authenticated,
}

impl Stage {
    pub(crate) const ALL: [Stage; 3] = [Stage::Waiting, Stage::Anonymous, Stage::Authenticated];

    /// Maximum number of connections. All together are half of the usual limit of 1,024 file descriptors.
    const fn limit(self) -> usize {
        match self {
            Stage::Waiting | Stage::Authenticated => 128,
            Stage::Anonymous => 256,
        }
    }
}

/// Number of a connection; later ones have higher numbers.
pub(crate) type ConnectionId = u64;

/// The open connections, by stage and client.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    next: ConnectionId,
    connections: HashMap<ConnectionId, (Peer, Stage)>,
    /// Never contains an empty set.
    by_peer: HashMap<(Stage, Peer), BTreeSet<ConnectionId>>,
    counts: [usize; Stage::ALL.len()],
}

impl Pool {
    /// Adds a connection in the stage [`Stage::Waiting`]. Returns its number and the connection that has to be closed
    /// for it, which is no longer part of the pool.
    pub(crate) fn add(&mut self, peer: Peer) -> (ConnectionId, Option<ConnectionId>) {
        let id = self.next;
        self.next += 1;
        self.insert(id, peer, Stage::Waiting);
        (id, self.displaced(Stage::Waiting))
    }

    /// Moves a connection to a later stage, and returns the connection that has to be closed for it. Without effect if
    /// the connection is in this stage already, or not part of the pool.
    pub(crate) fn advance(&mut self, id: ConnectionId, stage: Stage) -> Option<ConnectionId> {
        let (peer, before) = self.connections.get(&id).copied()?;
        if before == stage {
            return None;
        }
        self.remove(id);
        self.insert(id, peer, stage);
        self.displaced(stage)
    }

    /// Removes a connection.
    pub(crate) fn remove(&mut self, id: ConnectionId) {
        let Some((peer, stage)) = self.connections.remove(&id) else { return };
        self.counts[stage as usize] -= 1;
        if let Some(of_peer) = self.by_peer.get_mut(&(stage, peer)) {
            of_peer.remove(&id);
            if of_peer.is_empty() {
                self.by_peer.remove(&(stage, peer));
            }
        }
    }

    /// Removes and returns a connection, to free a file descriptor: one of the earliest stage.
    pub(crate) fn shed(&mut self) -> Option<ConnectionId> {
        let victim = Stage::ALL.into_iter().find_map(|stage| self.victim(stage))?;
        self.remove(victim);
        Some(victim)
    }

    /// Returns the number of connections in a stage.
    pub(crate) fn count(&self, stage: Stage) -> usize {
        self.counts[stage as usize]
    }

    fn insert(&mut self, id: ConnectionId, peer: Peer, stage: Stage) {
        self.connections.insert(id, (peer, stage));
        self.counts[stage as usize] += 1;
        self.by_peer.entry((stage, peer)).or_default().insert(id);
    }

    /// Removes and returns a connection if a stage has more than its limit.
    fn displaced(&mut self, stage: Stage) -> Option<ConnectionId> {
        let victim = if self.count(stage) > stage.limit() { self.victim(stage) } else { None }?;
        self.remove(victim);
        Some(victim)
    }

    /// Returns the oldest connection of the client with the most in a stage. Of several such clients, that with the
    /// oldest connection: a client is not displaced by others that have more.
    fn victim(&self, stage: Stage) -> Option<ConnectionId> {
        let of_stage = self.by_peer.iter().filter(|((it, _), _)| *it == stage);
        let oldest = of_stage.filter_map(|(_, ids)| Some((ids.len(), Reverse(*ids.first()?))));
        oldest.max().map(|(_, Reverse(id))| id)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::*;

    fn peer(number: u8) -> Peer {
        Peer::from(IpAddr::from([10, 0, 0, number]))
    }

    #[test]
    fn client_with_most_connections_loses_its_oldest() {
        let mut pool = Pool::default();
        let (scraper, _) = pool.add(peer(1));
        let flood: Vec<_> = (0..1_000).map(|_| pool.add(peer(2))).collect();
        let limit = Stage::Waiting.limit();
        assert_eq!(pool.count(Stage::Waiting), limit);
        let closed: Vec<_> = flood.iter().filter_map(|(_, victim)| *victim).collect();
        assert_eq!(closed, flood[..=1_000 - limit].iter().map(|(id, _)| *id).collect::<Vec<_>>());
        assert!(!closed.contains(&scraper));
    }

    #[test]
    fn client_with_one_connection_is_displaced_only_if_all_have_one() {
        let mut pool = Pool::default();
        let ids: Vec<_> = (0..128).map(|number| pool.add(peer(number)).0).collect();
        assert_eq!(pool.add(peer(200)).1, Some(ids[0]), "the oldest of all");
        assert_eq!(pool.add(peer(200)).1, Some(ids.len() as u64), "its own, now that it has two");
    }

    #[test]
    fn flood_in_one_stage_displaces_no_connection_of_a_later_one() {
        let mut pool = Pool::default();
        let (slow, scraper) = (pool.add(peer(1)).0, pool.add(peer(1)).0);
        assert_eq!((pool.advance(slow, Stage::Anonymous), pool.advance(scraper, Stage::Authenticated)), (None, None));
        let closed: Vec<_> = (0..500).filter_map(|_| pool.add(peer(1)).1).collect();
        assert!(closed.len() == 500 - 128 && !closed.contains(&slow) && !closed.contains(&scraper));
        // The client with the flood completes handshakes.
        let closed: Vec<_> = (0..500)
            .filter_map(|_| {
                let id = pool.add(peer(1)).0;
                pool.advance(id, Stage::Anonymous)
            })
            .collect();
        assert!(closed.contains(&slow) && !closed.contains(&scraper));
        assert_eq!(Stage::ALL.map(|stage| pool.count(stage)), [127, 256, 1]);
    }

    #[test]
    fn free_descriptor_is_taken_from_the_earliest_stage() {
        let mut pool = Pool::default();
        let ids = [(); 4].map(|()| pool.add(peer(1)).0);
        pool.advance(ids[0], Stage::Authenticated);
        pool.advance(ids[1], Stage::Anonymous);
        assert_eq!([(); 5].map(|()| pool.shed()), [Some(ids[2]), Some(ids[3]), Some(ids[1]), Some(ids[0]), None]);
    }

    proptest! {
        /// Whatever happens, no stage has more connections than its limit, and the counts are right.
        #[test]
        fn limits_and_counts_hold(steps in prop::collection::vec((0_u8..4, 0_u8..5, any::<prop::sample::Index>()), 1..2_000)) {
            let (mut pool, mut open) = (Pool::default(), Vec::new());
            for (step, number, index) in steps {
                let chosen = (!open.is_empty()).then(|| *index.get(&open));
                let closed = match (step, chosen) {
                    (0, Some(id)) => {
                        pool.remove(id);
                        Some(id)
                    }
                    (1, Some(id)) => pool.advance(id, Stage::Anonymous),
                    (2, Some(id)) => pool.advance(id, Stage::Authenticated),
                    _ => {
                        let (id, closed) = pool.add(peer(number));
                        open.push(id);
                        closed
                    }
                };
                open.retain(|id| Some(*id) != closed);
                prop_assert!(Stage::ALL.into_iter().all(|stage| pool.count(stage) <= stage.limit()));
                prop_assert_eq!(Stage::ALL.map(|stage| pool.count(stage)).iter().sum::<usize>(), open.len());
            }
            for id in open {
                pool.remove(id);
            }
            prop_assert!(pool.connections.is_empty() && pool.by_peer.is_empty() && pool.counts == [0; 3]);
        }
    }
}
