//! Reads a history file, or the frames of one, to its end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::history::history(bytes);
});
