//! Bytes sent and received over connections, per client.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes on the wire from and to one client, including HTTP and TLS overhead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// `User-Agent` of the first request of each connection.
    pub user_agent: String,
    /// Bytes received from the client.
    pub received: u64,
    /// Bytes sent to the client.
    pub sent: u64,
}

#[derive(Debug, Default)]
struct Counters {
    received: AtomicU64,
    sent: AtomicU64,
}

/// Traffic of all clients since the server was started.
#[derive(Debug, Default)]
pub(crate) struct TrafficBook {
    by_user_agent: Mutex<BTreeMap<String, Arc<Counters>>>,
}

impl TrafficBook {
    pub(crate) fn all(&self) -> Vec<Traffic> {
        let book = self.by_user_agent.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |(user_agent, counters): (&String, &Arc<Counters>)| Traffic {
            user_agent: user_agent.clone(),
            received: counters.received.load(Ordering::Relaxed),
            sent: counters.sent.load(Ordering::Relaxed),
        };
        book.iter().map(read).collect()
    }

    fn of(&self, user_agent: &str) -> Arc<Counters> {
        let mut book = self.by_user_agent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counters) = book.get(user_agent) {
            return Arc::clone(counters);
        }
        Arc::clone(book.entry(user_agent.to_owned()).or_default())
    }
}

/// Counts the bytes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Bytes before the first request, such as those of the TLS handshake.
    early: Counters,
    client: OnceLock<Arc<Counters>>,
}

impl Meter {
    pub(crate) fn received(&self, bytes: usize) {
        self.counters().received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.counters().sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Assigns the connection to a client. Only the first call has an effect.
    pub(crate) fn set_user_agent(&self, user_agent: &str, book: &TrafficBook) {
        if self.client.get().is_some() {
            return;
        }
        let counters = self.client.get_or_init(|| book.of(user_agent));
        counters.received.fetch_add(self.early.received.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        counters.sent.fetch_add(self.early.sent.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn counters(&self) -> &Counters {
        self.client.get().map_or(&self.early, |client| client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_user_agent_of_a_connection_is_counted() {
        let book = TrafficBook::default();
        let (first, second) = (Meter::default(), Meter::default());
        first.received(7);
        assert_eq!(book.all(), []);
        first.set_user_agent("a", &book);
        first.set_user_agent("b", &book);
        first.sent(5);
        second.set_user_agent("a", &book);
        second.received(1);
        assert_eq!(book.all(), [Traffic { user_agent: "a".to_owned(), received: 8, sent: 5 }]);
    }
}
