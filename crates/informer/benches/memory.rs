//! Heap use of an informer, in bytes per object. Run with `cargo bench -p kube-informer --bench memory`.
#![expect(clippy::print_stdout, reason = "the report")]

use kube_informer::{ManualSource, NamedIndexes};
use things::{Thing, things};

mod things;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const OBJECTS: u32 = 150_000;
const HANDLERS: u32 = 3;

/// Runs `step` and prints the growth of the heap after it and its peak, in bytes per object.
fn measure<R>(what: &str, step: impl FnOnce() -> R) -> R {
    let profiler = dhat::Profiler::builder().testing().build();
    let before = dhat::HeapStats::get().curr_bytes;
    let result = step();
    let after = dhat::HeapStats::get();
    drop(profiler);
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let each = |bytes: usize| bytes as f64 / f64::from(OBJECTS);
    println!(
        "{what:<44} {:>6.1} {:>6.1}",
        each(after.curr_bytes.saturating_sub(before)),
        each(after.max_bytes - before)
    );
    result
}

fn main() {
    println!("{:<44} {:>6} {:>6}", "bytes per object", "kept", "peak");
    let first = things(OBJECTS, 1);
    let second: Vec<_> = first.iter().map(|thing| thing.at(2)).collect();
    let (_informer, source) = ManualSource::new();
    measure("first list, with its objects", || source.replace(first.clone(), "1"));
    measure("list of the same objects", || source.replace(first, "2"));
    measure("list in which all changed", || source.replace(second, "3"));

    let index = NamedIndexes::new().with("node", Thing::nodes);
    let (informer, source) = ManualSource::with_index(index);
    for _ in 0..HANDLERS {
        informer.add_handler(drop);
    }
    let list = things(OBJECTS, 1);
    measure("objects, index, queues of 3 handlers", || source.replace(list, "1"));
    measure("delivered", || source.deliver());
}
