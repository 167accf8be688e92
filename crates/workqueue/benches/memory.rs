//! Heap bytes per key, without the key itself. Run with `cargo bench -p kube-workqueue --bench memory`.
#![expect(clippy::print_stdout, reason = "prints its report")]

use std::time::Duration;

use kube_workqueue::Queue;

mod keys;
use keys::keys;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() {
    println!("| keys | queued, B a key | delayed, B a key |\n|---:|---:|---:|");
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        let keys = keys(count);
        let queued = per_key(count, |queue| keys.iter().for_each(|key| queue.add(key.clone())));
        let hour = Duration::from_secs(3_600);
        let delayed = per_key(count, |queue| keys.iter().for_each(|key| queue.add_after(key.clone(), hour)));
        println!("| {count} | {queued} | {delayed} |");
    }
}

/// Returns the heap bytes of a queue after `fill`, divided by `count`.
fn per_key(count: usize, fill: impl FnOnce(&Queue<std::sync::Arc<str>>)) -> usize {
    let profiler = dhat::Profiler::builder().testing().build();
    let (queue, timer) = Queue::builder().build();
    fill(&queue);
    let bytes = dhat::HeapStats::get().curr_bytes;
    drop((queue, timer, profiler));
    bytes.div_ceil(count)
}
