//! Reads an audit log to its end, and the history of its changes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::audit::audit(bytes);
});
