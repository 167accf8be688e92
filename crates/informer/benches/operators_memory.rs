//! Heap of a cache of Pods, in bytes per Pod: `reflector` of `kube`, and caches of this crate. Run with
//! `cargo bench -p kube-informer --features runtime --bench operators_memory`.
#![expect(clippy::print_stdout, reason = "the report")]

use cluster::{Kind, Pods};

mod cluster;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Prints the growth of the heap after the first list, and its peak.
fn measure(what: &str, kind: Kind, count: usize, pods: &Pods) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
    let filled = runtime.block_on(kind.fill(pods));
    let heap = dhat::HeapStats::get();
    drop(profiler);
    drop(filled);
    println!("{count:>6} {what:<44} {:<34} {:>6} {:>6}", kind.name(), heap.curr_bytes / count, heap.max_bytes / count);
}

fn main() {
    println!("{:>6} {:<44} {:<34} {:>6} {:>6}", "Pods", "as sent", "bytes per Pod", "kept", "peak");
    for count in [1_000, 5_000, 20_000] {
        let pods = Pods::recorded(count);
        let lean = pods.without_managed_fields();
        for (what, pods) in [("with managedFields", pods), ("without managedFields", lean)] {
            let what = format!("{what}, {} bytes", pods.size());
            for kind in Kind::ALL {
                measure(&what, kind, count, &pods);
            }
        }
    }
}
