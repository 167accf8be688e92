//! Decodes one compact object.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::decoding::object(bytes);
});
