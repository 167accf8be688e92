//! The queue without delays: counterparts of client-go's `queue_test.go`, and further cases.

use std::{sync::Mutex, time::Duration};

use kube_workqueue::{Item, Queue};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

fn queue() -> Queue<&'static str> {
    Queue::builder().build().0
}

/// Returns a queued key without waiting.
async fn take<K: Clone + Eq + std::hash::Hash + Send + 'static>(queue: &Queue<K>) -> Item<'_, K> {
    timeout(Duration::ZERO, queue.get()).await.expect("a key is queued").expect("the queue is not shut down")
}

// upstream: TestBasic
#[tokio::test(start_paused = true)]
async fn many_producers_and_workers() {
    const PRODUCERS: usize = 50;
    const WORKERS: usize = 10;
    let (queue, _timer) = Queue::<usize>::builder().build();
    let mut producers = JoinSet::new();
    for key in 0..PRODUCERS {
        let queue = queue.clone();
        producers.spawn(async move {
            for _ in 0..50 {
                queue.add(key);
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let queue = queue.clone();
        workers.spawn(async move {
            let mut seen = vec![];
            while let Some(item) = queue.get().await {
                assert_ne!(*item, usize::MAX, "added after the shutdown");
                seen.push(*item);
                sleep(Duration::from_millis(3)).await;
            }
            seen
        });
    }
    producers.join_all().await;
    queue.shut_down();
    queue.add(usize::MAX);
    let mut seen: Vec<usize> = workers.join_all().await.concat();
    assert_eq!(queue.len(), 0);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), PRODUCERS, "every key was handed out");
}

// upstream: TestAddWhileProcessing
#[tokio::test(start_paused = true)]
async fn added_while_processing_comes_back() {
    let (queue, _timer) = Queue::<usize>::builder().build();
    for key in 0..50 {
        queue.add(key);
    }
    let counts = Mutex::new(vec![0; 50]);
    let work = async || {
        while let Some(item) = queue.get().await {
            let times = {
                let mut counts = counts.lock().unwrap();
                counts[*item] += 1;
                counts[*item]
            };
            if times == 1 {
                queue.add(*item);
            }
            sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::join!(work(), work(), work(), async {
        sleep(Duration::from_secs(1)).await;
        queue.shut_down();
    });
    assert_eq!(*counts.lock().unwrap(), vec![2; 50]);
    assert_eq!(queue.len(), 0);
}

// upstream: TestNoQueueDrainageUsingShutDown
#[tokio::test]
async fn shut_down_does_not_wait() {
    let queue = queue();
    queue.add("foo");
    queue.add("bar");
    let (first, second) = (take(&queue).await, take(&queue).await);
    queue.shut_down();
    assert!(queue.is_shutting_down());
    assert!(queue.get().await.is_none());
    drop((first, second));
}

// upstream: TestQueueDrainageUsingShutDownWithDrainWithDirtyItem
#[tokio::test]
async fn a_shut_down_queue_returns_a_key_that_was_added_while_in_process() {
    let queue = queue();
    queue.add("foo");
    let first = take(&queue).await;
    queue.add("foo");
    queue.shut_down();
    first.done();
    take(&queue).await.done();
    assert!(queue.get().await.is_none());
}

// upstream: TestGarbageCollection
#[tokio::test]
async fn keys_are_freed_once_handed_out() {
    use std::sync::Arc;
    let (queue, _timer) = Queue::<Arc<str>>::builder().build();
    let key: Arc<str> = "foo".into();
    queue.add(key.clone());
    assert_eq!(Arc::strong_count(&key), 2);
    take(&queue).await.done();
    assert_eq!(Arc::strong_count(&key), 1);
}

#[tokio::test]
async fn a_panic_ends_the_processing() {
    let queue = queue();
    queue.add("foo");
    let mut set = JoinSet::new();
    set.spawn({
        let queue = queue.clone();
        async move {
            let _item = take(&queue).await;
            queue.add("foo");
            panic!("a sync went wrong");
        }
    });
    assert!(set.join_next().await.unwrap().is_err());
    assert_eq!(*take(&queue).await, "foo");
}
