//! The check of the cache of an informer.

use std::time::Duration;

use kube_informer::CacheState;

/// A cache that has stored no list, event or bookmark for this long is stalled. API servers send a bookmark on every
/// watch about once a minute, and a broken watch is reopened within a minute.
const STALLED_AFTER: Duration = Duration::from_secs(180);

/// Time after which a list that is held fails the check. The API server has given wrong answers for as long.
const HELD_FOR: Duration = Duration::from_secs(180);

/// Returns `Err` with the reason if the cache has not started, has not synced, has stalled, or is held for long.
pub(super) fn check(state: CacheState) -> Result<(), String> {
    match state {
        CacheState::NotStarted => Err("not started".to_owned()),
        CacheState::Syncing { since } => Err(format!("no complete list in {} s", since.as_secs())),
        CacheState::Synced { idle } if idle > STALLED_AFTER => {
            Err(format!("no list, event or bookmark for {} s", idle.as_secs()))
        }
        CacheState::Held { since, .. } if since > HELD_FOR => Err(format!(
            "lists have lacked objects for {} s that exist or cannot be read: removals wait",
            since.as_secs()
        )),
        CacheState::Synced { .. } | CacheState::Held { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[rstest]
    #[case::not_started(CacheState::NotStarted, Some("not started"))]
    #[case::syncing(CacheState::Syncing { since: seconds(7) }, Some("no complete list in 7 s"))]
    #[case::fresh(CacheState::Synced { idle: seconds(61) }, None)]
    #[case::at_the_limit(CacheState::Synced { idle: seconds(180) }, None)]
    #[case::held(CacheState::Held { since: seconds(180), idle: seconds(7) }, None)]
    #[case::held_for_long(
        CacheState::Held { since: seconds(181), idle: seconds(7) },
        Some("lists have lacked objects for 181 s that exist or cannot be read: removals wait")
    )]
    #[case::stalled(CacheState::Synced { idle: seconds(181) }, Some("no list, event or bookmark for 181 s"))]
    fn unsynced_and_stalled_caches_fail_with_a_reason(#[case] state: CacheState, #[case] expect: Option<&str>) {
        assert_eq!(check(state).err().as_deref(), expect);
    }
}
