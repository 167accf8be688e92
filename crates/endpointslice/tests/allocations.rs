//! A sync that changes nothing allocates so many blocks for each slice, however many endpoints are in it.

#[path = "../benches/world/mod.rs"]
mod world;
use world::World;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// What a sync needs whatever the size.
const ONCE: u64 = 60;
/// What it needs for each slice of 100 endpoints beyond that.
const PER_SLICE: u64 = 2;

/// Blocks that a sync allocates.
fn blocks(world: &World) -> u64 {
    let before = dhat::HeapStats::get().total_blocks;
    let plan = world.sync();
    let blocks = dhat::HeapStats::get().total_blocks - before;
    drop(plan);
    blocks
}

// One test, for the profiler is one for the process.
#[test]
fn blocks_are_constant_per_slice() {
    let _profiler = dhat::Profiler::builder().testing().build();
    for pods in [10_usize, 100, 1_000, 10_000] {
        let slices = pods.div_ceil(100) as u64;
        let steady = blocks(&World::settled(pods));
        assert!(steady <= ONCE + PER_SLICE * slices, "{pods} Pods, steady: {steady} blocks");
        let changed = blocks(&World::changed(pods));
        // The slice that is written anew, with what its endpoints share.
        assert!(changed <= steady + 20, "{pods} Pods, one changed: {changed} blocks, {steady} without");
    }
}
