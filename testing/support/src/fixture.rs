//! Recorded responses.

/// Reads a recorded response of a real API server from `testing/conformance/fixtures`.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../conformance/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
