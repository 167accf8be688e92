//! Writes only while something allows it.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::{Instant, sleep_until};

/// Says whether writes may be sent: the fence of a leader election, say.
pub trait WriteGate: Send + Sync {
    /// The instant by which a write that is begun now has to be on its way; `None` when none may be begun. Never in the
    /// past. Asked before each step of a write, and when that instant has come.
    fn open_until(&self) -> Option<Instant>;
}

/// The gate of a client, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Gate(pub(crate) Option<Arc<dyn WriteGate>>);

impl Gate {
    /// Runs one exchange while the gate is open. When it closes, the exchange is dropped: what was not sent by then never is.
    pub(crate) async fn pass<T>(&self, exchange: impl Future<Output = T>) -> Option<T> {
        let Some(gate) = &self.0 else { return Some(exchange.await) };
        let mut exchange = std::pin::pin!(exchange);
        let mut closing = std::pin::pin!(sleep_until(gate.open_until()?));
        poll_fn(|context| {
            // The gate is asked before each step: a process that stood still may be woken by what the exchange waited for,
            // before any timer has rung, and would send then.
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

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.is_some()).finish()
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

    /// Open until an instant, which may be moved.
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
    async fn passes_while_open_and_not_once_closed() {
        let (gate, until) = gate(SECOND);
        assert_eq!(gate.pass(sleep(SECOND / 2)).await, Some(()));
        let longer = async {
            sleep(SECOND / 4).await;
            *until.0.lock().unwrap() += SECOND;
        };
        let (passed, ()) = tokio::join!(gate.pass(sleep(SECOND)), longer);
        assert_eq!(passed, Some(()), "it was opened for longer meanwhile");
        assert_eq!(gate.pass(sleep(SECOND)).await, None, "closed in the middle");
        assert_eq!(gate.pass(async {}).await, None, "closed before");
    }

    /// A process that is stopped by a signal, and goes on when what it waited for is there and the gate is closed.
    #[tokio::test(start_paused = true)]
    async fn what_stood_still_until_the_gate_was_closed_does_not_go_on() {
        let (gate, _) = gate(SECOND);
        let (connected, connection) = oneshot::channel();
        let sent = Arc::new(Mutex::new(false));
        let exchange = {
            let sent = Arc::clone(&sent);
            async move {
                connection.await.expect("a connection");
                *sent.lock().unwrap() = true;
            }
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { gate.pass(exchange).await });
        tokio::task::yield_now().await;
        connected.send(()).expect("somebody waits");
        advance(2 * SECOND).await;
        assert_eq!(tasks.join_next().await.expect("a task").expect("no panic"), None);
        assert!(!*sent.lock().unwrap());
    }
}
