//! Requests with tokens that do not exist.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{Counters, Https, https::get, source};

/// Number of connections, each of which sends one request at a time.
pub(super) const CONNECTIONS: usize = 32;
/// Time from a response to the next request: at most 1,600 requests per second.
const PAUSE: Duration = Duration::from_millis(20);

/// Sends requests until dropped.
pub(super) async fn run(number: usize, https: Arc<Https>, counters: Arc<Counters>) {
    let mut request = 0_u64;
    loop {
        if let Ok(mut stream) = https.connect(source(number)).await {
            loop {
                request += 1;
                counters.attempted();
                let token = format!("unknown-{number}-{request}");
                let Ok(status) = get(&mut stream, "/metrics", Some(&token)).await else { break };
                counters.answered();
                if status == 429 {
                    counters.rejected();
                }
                sleep(PAUSE).await;
            }
        }
        sleep(PAUSE).await;
    }
}
