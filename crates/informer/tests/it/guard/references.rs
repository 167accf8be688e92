//! The first list, compared with objects that something else refers to.

use kube_wire::{ObjectKey, Uid};

use super::{world::watches, *};

fn references(things: std::ops::Range<usize>) -> Vec<(ObjectKey, Uid)> {
    things.map(|thing| (ObjectKey::new(NAMESPACE, name(thing).as_str()), Uid::default())).collect()
}

fn withheld(world: &World, thing: usize) -> bool {
    world.informer.lister().is_withheld(NAMESPACE, &name(thing))
}

#[tokio::test(start_paused = true)]
async fn objects_that_a_wrong_first_list_lacks_are_withheld() {
    let server = server(THINGS);
    let fault = hide(&server, 40);
    let world = World::start_on(server).await;
    assert_eq!(world.stored(), 40);
    world.informer.check_references(references(0..THINGS)).await;
    assert_eq!(missing(world.held()), 60);
    assert_eq!([0, 40, 99, 500].map(|thing| withheld(&world, thing)), [false, true, true, false]);
    sleep(seconds(300)).await;
    assert_eq!((world.stored(), withheld(&world, 99)), (40, true), "after several lists");
    // Events go on, and show what is withheld.
    world.client.update(&config_map(99, false)).await.expect("updated");
    eventually("a change", &false, async || withheld(&world, 99)).await;
    world.delete(98..99).await;
    eventually("a deletion", &false, async || withheld(&world, 98)).await;
    world.server.faults().remove(fault);
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.deletions(), world.held()), (THINGS - 1, 0, None));
    assert!(!world.informer.lister().withholds_any());
}

#[rstest]
#[case::gone(0..40, 60..160, 5)]
#[case::few_are_not_read(0..50, 0..100, 0)]
#[case::none_missing(0..100, 0..100, 0)]
#[tokio::test(start_paused = true)]
async fn objects_that_do_not_exist_are_not_withheld(
    #[case] exist: std::ops::Range<usize>,
    #[case] referred: std::ops::Range<usize>,
    #[case] reads: usize,
) {
    let world = World::start_on(server(exist.len())).await;
    world.informer.check_references(references(referred)).await;
    assert_eq!((world.held(), world.reads()), (None, reads));
    assert!(!world.informer.lister().withholds_any());
}

/// A withheld object is deleted in an interval without a watch.
#[tokio::test(start_paused = true)]
async fn a_withheld_object_that_is_gone_ends_with_the_hold() {
    let server = server(THINGS);
    let fault = hide(&server, 0);
    let world = World::start_on(server).await;
    world.informer.check_references(references(0..THINGS)).await;
    assert!(withheld(&world, 7));
    world.server.faults().remove(fault);
    world.while_away(async || world.delete(0..THINGS).await).await;
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.held(), withheld(&world, 7)), (0, None, false));
}

/// Each controller of a process checks its own references on the shared informer.
#[tokio::test(start_paused = true)]
async fn a_check_of_fewer_references_withholds_no_fewer_objects() {
    let server = server(THINGS);
    let fault = hide(&server, 0);
    let world = World::start_on(server).await;
    world.informer.check_references(references(0..THINGS)).await;
    world.informer.check_references(references(0..60)).await;
    let all_withheld = || (0..THINGS).all(|thing| withheld(&world, thing));
    assert!(all_withheld());
    sleep(seconds(300)).await;
    assert!(all_withheld(), "after several lists");
    world.server.faults().remove(fault);
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.held()), (THINGS, None));
    assert!(!world.informer.lister().withholds_any());
}

/// A list that replaces a failing watch drops the request of the check. If it fails, the watch is next, and not another list.
#[tokio::test(start_paused = true)]
async fn a_hold_ends_although_a_list_that_began_after_it_failed() {
    let world = World::start().await;
    let away = world.server.faults().inject(Fault::unavailable().on(On::any()));
    world.server.faults().cut_watches(&watches());
    sleep(seconds(1)).await;
    world.informer.check_references(references(500..560)).await;
    assert_eq!((missing(world.held()), withheld(&world, 500)), (60, true));
    sleep(seconds(14)).await;
    world.server.faults().remove(away);
    sleep(seconds(60)).await;
    assert_eq!((world.stored(), world.held(), withheld(&world, 500)), (THINGS, None, false));
}
