//! An object in renderings that mean the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::renderings(bytes);
});
