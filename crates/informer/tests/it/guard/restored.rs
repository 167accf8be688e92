//! A list of a restored server that is held: the store has the state before the restore, at a higher version.

use super::*;

/// Returns a world in which etcd was restored to a state with 10 of the 100 things in the store. That list is held.
async fn restored() -> World {
    let world = World::start_with(Lies::default(), 10).await;
    let snapshot = world.server.snapshot();
    for thing in 10..THINGS {
        world.client.create(&config_map(thing, true)).await.expect("created");
    }
    eventually("things", &THINGS, async || world.stored()).await;
    world.events.take();
    world.server.restore(&snapshot);
    assert_eq!(world.until_held().await, HeldList { stored: THINGS, missing: 90, changed: 0 });
    world
}

/// Otherwise a sync would not find what the last one has created, and would create it again.
#[tokio::test(start_paused = true)]
async fn own_writes_are_stored() {
    let world = restored().await;
    // The list cannot be confirmed.
    let forbidden = world.server.faults().inject(Fault::reject(403).on(On::any().verb("get")));
    let writes = world.informer.write_through(&world.informer.store_synced());
    let metadata =
        ObjectMeta { name: Some("own".to_owned()), namespace: Some(NAMESPACE.to_owned()), ..ObjectMeta::default() };
    let mut own = ConfigMap { metadata, ..ConfigMap::default() };
    let version =
        async || world.informer.lister().get(NAMESPACE, "own").map(|it| it.metadata.resource_version.to_string());
    for update in 0..3 {
        let write = writes.begin(NAMESPACE, "own");
        own = if update == 0 {
            world.client.create(&own).await.expect("created")
        } else {
            own.data = Some([("update".to_owned(), update.to_string())].into());
            world.client.update(&own).await.expect("updated")
        };
        let written: Thing =
            serde_json::from_value(serde_json::to_value(&own).expect("an object")).expect("the same object");
        write.written(written);
        assert_eq!(version().await, own.metadata.resource_version);
        sleep(seconds(60)).await;
        assert_eq!(version().await, own.metadata.resource_version, "after lists that are held");
    }
    assert!(world.outcomes.all().contains(&"contradicted"));
    world.events.take();

    world.server.faults().remove(forbidden);
    sleep(seconds(140)).await;
    assert_eq!(world.stored(), 11, "the restored state");
    assert_eq!(version().await, own.metadata.resource_version);
    let events = world.events.take();
    assert!(events.split(", ").all(|it| !it.contains("/own@") || it.starts_with("Updated")), "{events}");
    world.delete(0..1).await;
    eventually("the next event", &10, async || world.stored()).await;
}

/// The version of the server is below that of the store, which lacks its changes nevertheless.
#[tokio::test(start_paused = true)]
async fn store_does_not_count_as_current() {
    let world = restored().await;
    let caught_up = world.informer.catch_up(seconds(1));
    timeout(seconds(60), caught_up).await.expect("the list is confirmed");
    assert_eq!((world.stored(), world.held()), (10, None));
}
