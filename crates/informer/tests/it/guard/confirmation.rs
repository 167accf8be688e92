//! The time until a held list is confirmed.

use super::*;

/// Returns a world whose lists have been empty for 5 min, so that they are confirmed at intervals of 2 min. The next
/// list is more than 30 s away.
async fn contradicted_for_long() -> World {
    let world = World::start().await;
    world.lies.begin("configmaps", EMPTY);
    world.relist();
    world.until_held().await;
    sleep(seconds(300)).await;
    assert!(world.outcomes.all().len() > 4, "{:?}", world.outcomes.all());
    world
}

#[tokio::test(start_paused = true)]
async fn new_leader_does_not_wait_for_the_interval_after_contradictions() {
    let world = contradicted_for_long().await;
    world.client.create(&config_map(500, true)).await.expect("created");
    world.lies.end();
    let caught_up = world.informer.catch_up(seconds(1));
    timeout(seconds(20), caught_up).await.expect("a list is requested soon");
    assert_eq!((world.stored(), world.deletions(), world.held()), (THINGS + 1, 0, None));
}

#[tokio::test(start_paused = true)]
async fn restore_does_not_wait_for_the_interval_after_contradictions() {
    let mut world = World::start().await;
    let snapshot = world.server.snapshot();
    world.client.create(&config_map(500, true)).await.expect("created");
    let other =
        Informer::<Thing>::builder(world.client.clone()).namespace(NAMESPACE).restores(world.restores.clone()).build();
    let store = other.store_synced();
    world.tasks.spawn(other.run(CancellationToken::new()));
    wait_for_sync([&store], seconds(30)).await.expect("the other informer syncs");
    world.lies.begin("configmaps", EMPTY);
    world.relist();
    world.until_held().await;
    sleep(seconds(300)).await;
    world.lies.end();
    world.server.restore(&snapshot);
    sleep(seconds(20)).await;
    assert_eq!((world.stored(), world.held()), (THINGS, None), "the state of the backup");
}

/// Leaders that change all the time request a list all the time.
#[tokio::test(start_paused = true)]
async fn continuous_requests_cause_no_continuous_lists() {
    let world = contradicted_for_long().await;
    world.client.create(&config_map(500, true)).await.expect("created");
    let before = world.outcomes.all().len();
    let end = Instant::now() + seconds(300);
    while Instant::now() < end {
        let caught_up = world.informer.catch_up(Duration::ZERO);
        assert!(timeout(Duration::from_millis(200), caught_up).await.is_err(), "the list stays held");
    }
    let lists = world.outcomes.all().len() - before;
    assert!((18..=21).contains(&lists), "{lists} lists in 5 min, one per 15 s");
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
}
