//! Fills `fuzz/corpus` from the recorded bytes of a real API server.

use std::{error::Error, fs, path::Path};

use kube_endpoints_fuzz::{SEED_JSON, SEED_PROTOBUF};
use kube_wire::protobuf::{Envelope, Fields};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Enough of each kind to meet all its fields.
const OBJECTS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixture = |name: &str| fs::read(root.join("../conformance/fixtures").join(name));
    let seed = |target: &str, name: &str, first: u8, body: &[u8]| {
        let directory = root.join("corpus").join(target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(name), [&[first], body].concat())
    };
    for (encoding, suffix) in [("json", "json"), ("protobuf", "pb")] {
        for what in ["list", "watch"] {
            // Steps of 256, 8 and 1 bytes.
            for step in [255, 7, 0] {
                let body = fixture(&format!("service.{what}.{suffix}"))?;
                seed(&format!("{what}_{encoding}"), &format!("step-{step}"), step, &body)?;
            }
        }
    }
    for kind in ["pod", "service", "node", "endpointslice", "endpoints"] {
        let json = fixture(&format!("{kind}.list.json"))?;
        let List { items } = serde_json::from_slice(&json)?;
        for (at, item) in items.iter().take(OBJECTS).enumerate() {
            seed(kind, &format!("{at}.json"), SEED_JSON, item.get().as_bytes())?;
        }
        let protobuf = fixture(&format!("{kind}.list.pb"))?;
        let items = Fields::new(Envelope::open(&protobuf)?.object).filter_map(Result::ok).filter(|it| it.number == 2);
        for (at, item) in items.take(OBJECTS).enumerate() {
            seed(kind, &format!("{at}.pb"), SEED_PROTOBUF, item.as_bytes()?)?;
        }
    }
    Ok(())
}
