//! Decodes a list of Services in chunks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::decoding::list(bytes);
});
