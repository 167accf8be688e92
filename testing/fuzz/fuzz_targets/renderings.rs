//! Decodes different encodings of one object that are equal for Go's decoders.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kube_endpoints_fuzz::decoding::renderings(bytes);
});
