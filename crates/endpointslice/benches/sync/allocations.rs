//! Limits on the number of allocations of a sync: constant per slice, independent of the number of endpoints.

mod world;
use world::World;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Maximum number of blocks allocated by a sync without changes, apart from those per slice.
const ONCE: u64 = 60;
/// Maximum number of further blocks for each slice of 100 endpoints.
const PER_SLICE: u64 = 2;

/// Returns the number of blocks that a sync allocates. The construction of the world is not profiled, which would take
/// most of the time.
fn blocks(world: &World) -> u64 {
    let _profiler = dhat::Profiler::builder().testing().build();
    let _plan = world.sync();
    dhat::HeapStats::get().total_blocks
}

// One test only: the profiler counts for the whole process.
#[test]
fn blocks_are_constant_per_slice() {
    for pods in [10_usize, 100, 1_000, 10_000] {
        let slices = pods.div_ceil(100) as u64;
        let steady = blocks(&World::settled(pods));
        assert!(steady <= ONCE + PER_SLICE * slices, "{pods} Pods, steady: {steady} blocks");
        let changed = blocks(&World::changed(pods));
        // The additional blocks are those of the updated slice.
        assert!(changed <= steady + 20, "{pods} Pods, one changed: {changed} blocks, {steady} without");
    }
}
