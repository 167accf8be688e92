//! Writes only while something allows it.

use std::fmt;
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

/// Says whether writes may be sent: the fence of a leader election, say.
pub trait WriteGate: Send + Sync {
    /// The instant by which a write that is begun now has to be on its way; `None` when none may be begun. Never in the
    /// past. Asked again when that instant has come.
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
        loop {
            let until = gate.open_until()?;
            if let Ok(done) = timeout_at(until, &mut exchange).await {
                return Some(done);
            }
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.is_some()).finish()
    }
}
