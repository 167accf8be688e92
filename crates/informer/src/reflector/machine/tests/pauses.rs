//! Pauses between failed requests.

use proptest::prelude::*;

use super::*;

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(Failure::Expired),
        Just(Failure::Ahead),
        Just(BUSY),
        Just(Failure::Unreachable),
        Just(Failure::ServerError),
        Just(Failure::NoBookmark),
        Just(Failure::NotAcceptable),
        Just(Failure::Unreadable),
        Just(Failure::Other)
    ]
}

proptest! {
    /// Failures in any order: there is a pause after at most five failed requests. The five are a streaming list in the
    /// wrong encoding, one from an expired version, one that the server does not support, a list from an expired
    /// version, and a list of the most recent state.
    #[test]
    fn pauses_after_at_most_five_failures(
        script in prop::collection::vec((failure(), 0..10u32, 0.0..1.0f64), 1..100),
    ) {
        let (mut machine, mut now, mut failed) = (machine(), epoch(), 0);
        for (failure, dice, jitter) in script {
            let action = machine.next(now, jitter);
            now += Duration::from_millis(10);
            let observation = match (action, dice) {
                (Action::Wait(wait), _) => {
                    prop_assert!(wait >= Duration::from_millis(800), "{wait:?}");
                    now += wait;
                    failed = 0;
                    continue;
                }
                (Action::Retry { .. }, _) => {
                    now += Duration::from_millis(500);
                    failed = 0;
                    continue;
                }
                (Action::Stream { .. }, 0) => {
                    machine.observe(synced("5"), now, jitter);
                    Ended
                }
                (Action::List(_), 0) => listed("5"),
                (Action::List(_), 1) => page("p"),
                (Action::List(_), _) => ListFailed(failure),
                (Action::Verify, 0..3) => verified("5"),
                (Action::Stream { .. } | Action::Watch { .. }, 0..3) => Ended,
                (Action::Stream { .. } | Action::Watch { .. } | Action::Verify, _) => Failed(failure),
            };
            let answered =
                matches!(observation, Observation::Listed { .. } | Observation::Page { .. } | Observation::Verified { .. });
            failed = if answered { 0 } else { failed + 1 };
            prop_assert!(failed <= 5, "{machine:?}");
            machine.observe(observation, now, jitter);
        }
    }
}
