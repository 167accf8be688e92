//! Writes the seeds to `testing/fuzz/corpus`, from the recorded bytes of a real API server.

use std::{error::Error, fs, path::Path};

use kube_endpoints_fuzz::seeds;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for seed in seeds::of(&root.join("../conformance/fixtures"))? {
        let folder = root.join("corpus").join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(seed.name), seed.bytes)?;
    }
    Ok(())
}
