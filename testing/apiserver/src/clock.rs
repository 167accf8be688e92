//! The wall clock of a server.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Wall clock of a server: source of the times in objects, in the request log and for the expiry of tokens. The default
/// is the system clock.
///
/// Timeouts, delays and bookmark intervals use tokio's clock.
///
/// ```
/// use jiff::Timestamp;
/// use kube_dev_apiserver::{Clock, Config};
///
/// let config = Config { clock: Clock::new(|| Timestamp::UNIX_EPOCH), ..Config::default() };
/// assert_eq!(config.clock.now(), Timestamp::UNIX_EPOCH);
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    /// `None` is the system clock.
    read: Option<Arc<dyn Fn() -> Timestamp + Send + Sync>>,
}

impl Clock {
    /// Returns a clock that calls `read` for each time.
    pub fn new(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { read: Some(Arc::new(read)) }
    }

    /// Returns the current time of this clock.
    #[expect(clippy::disallowed_methods, reason = "the default clock of the shell that stamps objects")]
    pub fn now(&self) -> Timestamp {
        self.read.as_ref().map_or_else(Timestamp::now, |read| read())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.read.is_some() { "Clock(function)" } else { "Clock(system)" })
    }
}
