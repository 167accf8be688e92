//! Waiting for a state of the server.

use std::fmt;
use std::time::Duration;

use crate::faults::FaultState;
use crate::requests::LoggedRequest;
use crate::server::Server;

/// Maximum number of failed requests in a [`WaitTimeout`].
const MAX_FAILED: usize = 5;

/// Error of [`Server::wait_until`]: the condition did not hold within the time limit.
///
/// The message has one line for each of the [`failed`](Self::failed) requests and [`unspent`](Self::unspent) faults. The
/// `Debug` format, which `unwrap` and a test that returns the error print, is the message too.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error(
    "the awaited state was not reached within {limit:?}: {checks} checks, resource version {revision}{}{}",
    lines("last failed requests", failed),
    lines("faults without effect", unspent)
)]
#[non_exhaustive]
pub struct WaitTimeout {
    /// Time limit of the call.
    pub limit: Duration,
    /// Number of times that the condition was evaluated.
    pub checks: u64,
    /// [Revision](Server::revision) of the server at the end.
    pub revision: u64,
    /// The last requests that failed during the wait, at most 5, in the order of the [log](Server::requests): those with
    /// a status of 400 or more, and those whose connection was reset. A request without a response is not among them.
    pub failed: Vec<LoggedRequest>,
    /// Injected faults that have not had their effect, see [`FaultState::is_spent`].
    pub unspent: Vec<FaultState>,
}

impl fmt::Debug for WaitTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn lines(heading: &str, items: &[impl fmt::Display]) -> String {
    let heading = if items.is_empty() { String::new() } else { format!("\n{heading}:") };
    items.iter().fold(heading, |lines, item| format!("{lines}\n  {item}"))
}

impl Server {
    /// Waits until `condition` returns `Some`, and returns its value.
    ///
    /// The condition is evaluated at once, after each change of an object, after each answered request, and when a fault
    /// delays a request. It can therefore read the objects, the [request log](Self::requests) and the
    /// [faults](Self::faults), and should read nothing else. It is not evaluated at intervals: with paused time, a wait
    /// takes no time and needs no sleep. A state that the next change has replaced already may be missed.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube_dev_apiserver::{Config, Server};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::in_process(Config::default())?;
    /// server.load([json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"}})])?;
    /// let maps = server.typed::<ConfigMap>();
    /// let controller = async { maps.patch("web", &json!({"data": {"colour": "blue"}})) };
    /// let coloured = || maps.get("web").ok()?.data?.get("colour").cloned();
    /// let (_, colour) = tokio::join!(controller, server.wait_until(Duration::from_secs(10), coloured));
    /// assert_eq!(colour?, "blue");
    /// // The absence of an object:
    /// maps.delete("web")?;
    /// server.wait_until(Duration::from_secs(10), || maps.get("web").is_err().then_some(())).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WaitTimeout`] if the condition returns `None` until `limit` has passed on tokio's clock.
    pub async fn wait_until<T>(
        &self,
        limit: Duration,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, WaitTimeout> {
        let mut changes = self.shared().activity.listen();
        let requests = &self.shared().requests;
        let earlier = requests.recorded();
        let mut checks = 0;
        let holds = async {
            loop {
                changes.mark_seen();
                checks += 1;
                if let Some(value) = condition() {
                    return value;
                }
                changes.changed().await;
            }
        };
        let waited = tokio::time::timeout(limit, holds).await;
        waited.map_err(|_| {
            let failed = requests.last_failed(earlier, MAX_FAILED);
            WaitTimeout { limit, checks, revision: self.revision(), failed, unspent: self.faults().unspent() }
        })
    }
}
