//! Writes the seeds to `testing/fuzz/corpus`, from the recorded bytes of a real API server and the samples of audit logs.

#[path = "../../../crates/history/tests/it/audit/samples.rs"]
mod samples;

use std::{error::Error, fs, io, path::Path};

use kube_endpoints_fuzz::{audit, decoding::seeds, history};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = root.join("../conformance/fixtures");
    for seed in seeds::of(&fixtures)? {
        write(&root.join("corpus").join(seed.target), &seed.name, &seed.bytes)?;
    }
    for (name, bytes) in ["file", "frames"].into_iter().zip(history::seeds(&fixtures)?) {
        write(&root.join("corpus/history"), name, &bytes)?;
    }
    for (name, log) in samples::all() {
        write(&root.join("corpus/audit"), name, &[&[audit::AT_ONCE], &log[..]].concat())?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(name), bytes)
}
