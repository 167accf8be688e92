//! The write gate: writes are sent only while it is open.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::{Instant, sleep_until};

/// Decides whether a client may send writes, for example the fence of a leader election. See
/// [`Client::gated`](crate::Client::gated) and [`gated_kube_client`](crate::gated_kube_client()).
pub trait WriteGate: Send + Sync {
    /// Returns the instant at which the gate closes unless it is extended, or `None` if it is closed. Never returns an
    /// instant in the past.
    ///
    /// Called each time a write is polled and when the returned instant is reached, so it must be cheap.
    fn open_until(&self) -> Option<Instant>;
}

/// The gate of a client; `None` is always open.
#[derive(Clone, Default)]
pub(crate) struct Gate(pub(crate) Option<Arc<dyn WriteGate>>);

impl Gate {
    /// Runs one exchange while the gate is open. Drops it and returns `None` if the gate is or becomes closed, so that
    /// a write that still waits for a connection is never sent.
    pub(crate) async fn run_while_open<T>(&self, exchange: impl Future<Output = T>) -> Option<T> {
        let Some(gate) = &self.0 else { return Some(exchange.await) };
        let mut exchange = std::pin::pin!(exchange);
        let mut closing = std::pin::pin!(sleep_until(gate.open_until()?));
        poll_fn(|context| {
            // The gate is checked at each poll: a process that was stopped (SIGSTOP) may be woken by the exchange, for
            // example by a new connection, before the timer fires, and would send the write.
            while let Some(until) = gate.open_until() {
                if closing.deadline() != until {
                    closing.as_mut().reset(until);
                }
                if closing.as_mut().poll(context).is_pending() {
                    return exchange.as_mut().poll(context).map(Some);
                }
            }
            Poll::Ready(None)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::task::JoinSet;
    use tokio::time::{advance, sleep};

    use super::*;

    /// A gate that is open until an adjustable instant.
    struct Until(Mutex<Instant>);

    impl WriteGate for Until {
        fn open_until(&self) -> Option<Instant> {
            let until = *self.0.lock().unwrap();
            (Instant::now() < until).then_some(until)
        }
    }

    fn gate(open: Duration) -> (Gate, Arc<Until>) {
        let until = Arc::new(Until(Mutex::new(Instant::now() + open)));
        (Gate(Some(until.clone())), until)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn exchange_runs_while_the_gate_is_open() {
        let (gate, until) = gate(SECOND);
        assert_eq!(gate.run_while_open(sleep(SECOND / 2)).await, Some(()));
        let extend = async {
            sleep(SECOND / 4).await;
            *until.0.lock().unwrap() += SECOND;
        };
        let (passed, ()) = tokio::join!(gate.run_while_open(sleep(SECOND)), extend);
        assert_eq!(passed, Some(()), "extended while the exchange was pending");
        assert_eq!(gate.run_while_open(sleep(SECOND)).await, None, "closes during the exchange");
        assert_eq!(gate.run_while_open(async {}).await, None, "already closed");
    }

    /// A process is stopped (SIGSTOP) while a write waits for a connection. It continues after the gate closed, with
    /// the connection ready.
    #[tokio::test(start_paused = true)]
    async fn stopped_process_does_not_send_after_gate_closed() {
        let (gate, _) = gate(SECOND);
        let (connected, connection) = oneshot::channel();
        let sent = Arc::new(Mutex::new(false));
        let exchange = {
            let sent = Arc::clone(&sent);
            async move {
                connection.await.expect("connection future was dropped");
                *sent.lock().unwrap() = true;
            }
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { gate.run_while_open(exchange).await });
        tokio::task::yield_now().await;
        connected.send(()).expect("exchange was dropped too early");
        advance(2 * SECOND).await;
        assert_eq!(tasks.join_next().await.expect("task set is empty").expect("task panicked"), None);
        assert!(!*sent.lock().unwrap());
    }
}
