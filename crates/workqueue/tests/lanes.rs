//! Priority lanes on a queue.

use std::{num::NonZeroU8, time::Duration};

use kube_workqueue::{Lane, Lanes, Queue};

const URGENT: Lane = Lane(0);
const USUAL: Lane = Lane(1);
const BACKGROUND: Lane = Lane(2);

fn queue() -> Queue<&'static str> {
    let lanes = Lanes::new(NonZeroU8::new(3).expect("three")).usual(USUAL);
    Queue::builder().lanes(lanes).build().0
}

async fn drain(queue: &Queue<&'static str>) -> Vec<(&'static str, Lane)> {
    let mut order = vec![];
    while !queue.is_empty() {
        let item = queue.get().await.expect("not shut down");
        order.push((*item, item.lane()));
    }
    order
}

#[tokio::test]
async fn the_more_urgent_lane_goes_first() {
    let queue = queue();
    queue.lane(BACKGROUND).add("background");
    queue.add("usual");
    queue.lane(URGENT).add("urgent");
    queue.lane(Lane(200)).add("beyond");
    let order = [("urgent", URGENT), ("usual", USUAL), ("background", BACKGROUND), ("beyond", BACKGROUND)];
    assert_eq!(drain(&queue).await, order);
}

#[tokio::test]
async fn a_key_in_two_lanes_counts_in_the_more_urgent() {
    let queue = queue();
    queue.add("first");
    queue.add("second");
    queue.lane(URGENT).add("second");
    queue.lane(BACKGROUND).add("first");
    assert_eq!(queue.len(), 2);
    assert_eq!(drain(&queue).await, [("second", URGENT), ("first", USUAL)]);
}

#[tokio::test]
async fn a_key_added_while_processing_joins_the_most_urgent_lane_asked_for() {
    let queue = queue();
    queue.add("foo");
    let item = queue.get().await.expect("a key");
    for lane in [BACKGROUND, URGENT, USUAL] {
        queue.lane(lane).add("foo");
    }
    queue.lane(URGENT).add("bar");
    item.done();
    assert_eq!(drain(&queue).await, [("bar", URGENT), ("foo", URGENT)]);
}

#[tokio::test(start_paused = true)]
async fn delays_remember_their_lane() {
    let lanes = Lanes::new(NonZeroU8::new(3).expect("three")).usual(USUAL);
    let (queue, timer) = Queue::builder().lanes(lanes).build();
    let mut set = tokio::task::JoinSet::new();
    set.spawn(timer.run());
    let delay = Duration::from_millis(5);
    queue.lane(BACKGROUND).add_after("background", delay);
    queue.add_after("usual", delay);
    queue.lane(BACKGROUND).add_after("urgent", delay);
    queue.lane(URGENT).add_after("urgent", 2 * delay);
    tokio::time::sleep(2 * delay).await;
    assert_eq!(drain(&queue).await, [("urgent", URGENT), ("usual", USUAL), ("background", BACKGROUND)]);
}
