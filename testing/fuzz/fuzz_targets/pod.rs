//! Decodes the compact Pod, from either encoding.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::object::<kube_endpoint_model::Pod>(bytes);
});
