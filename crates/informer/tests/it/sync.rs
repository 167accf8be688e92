//! Waiting for caches that sync, stop or are never filled.

use kube_informer::{ManualSource, NeverSynced, synced_before};
use rstest::rstest;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    log::{record, thing},
    thing::Thing,
};

#[tokio::test]
async fn an_informer_that_panics_before_its_first_list_has_not_synced() {
    let (informer, source) = ManualSource::<Thing>::new();
    let (_, handle) = record(&informer);
    let broken = informer.add_handler(|_| panic!("handler broke"));
    source.apply(thing("a", 1));
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    let error = tasks.join_next().await.expect("one task").expect_err("the handler panics");
    assert!(error.is_panic());
    let error = synced_before(&CancellationToken::new(), &[handle.named("example"), broken]).await.unwrap_err();
    assert_eq!(error.to_string(), "the cache of manual source (example) stopped before it synced");
}

#[rstest]
#[case::stopped(true, Ok(false))]
#[case::synced(false, Ok(true))]
#[tokio::test]
async fn cancellation_is_no_error(#[case] stopped: bool, #[case] expect: Result<bool, NeverSynced>) {
    let (informer, source) = ManualSource::<Thing>::new();
    let (_, handle) = record(&informer);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    if stopped {
        stop.cancel();
        tasks.join_next().await.expect("one task").expect("no panic");
    } else {
        source.replace([], "1");
    }
    assert_eq!(synced_before(&stop, &[handle]).await, expect);
}
