//! The binary `devcluster`: the library and, by feature, a profiler of the heap.

use std::process::ExitCode;

/// Records allocations only while a profiler exists.
#[cfg(feature = "dhat")]
#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() -> ExitCode {
    devcluster::main()
}
