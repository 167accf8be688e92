//! Seeds of the fuzz targets, from recorded bytes of a real API server.

use std::{error::Error, fs, path::Path};

use kube_wire::protobuf::{Envelope, Fields};
use serde::Deserialize;
use serde_json::value::RawValue;

/// First byte of an input that is an object in protobuf.
pub const PROTOBUF: u8 = b'p';
/// First byte of an input that is an object in JSON. Any byte other than [`PROTOBUF`] has the same effect.
pub const JSON: u8 = b'j';

/// Number of objects per kind, enough to cover all fields.
const OBJECTS: usize = 12;

/// One input of a target.
#[derive(Debug)]
pub struct Seed {
    /// Name of the target.
    pub target: String,
    /// Name of the seed, unique within its target.
    pub name: String,
    /// Bytes of the input.
    pub bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Returns all seeds, from the recordings in the directory `fixtures`.
///
/// # Errors
///
/// A recording is missing or malformed.
pub fn of(fixtures: &Path) -> Result<Vec<Seed>, Box<dyn Error>> {
    let recorded = |name: String| fs::read(fixtures.join(name));
    let mut seeds = Vec::new();
    let mut seed = |target: &str, name: String, first: u8, body: &[u8]| {
        seeds.push(Seed { target: target.to_owned(), name, bytes: [&[first], body].concat() });
    };
    for (encoding, suffix) in [("json", "json"), ("protobuf", "pb")] {
        for what in ["list", "watch"] {
            let body = recorded(format!("service.{what}.{suffix}"))?;
            // Chunks of 256, 8 and 1 bytes.
            for step in [255, 7, 0] {
                seed(&format!("{what}_{encoding}"), format!("step-{step}"), step, &body);
            }
        }
    }
    for kind in ["pod", "service", "node", "endpointslice", "endpoints"] {
        let json = recorded(format!("{kind}.list.json"))?;
        let List { items } = serde_json::from_slice(&json)?;
        for (at, item) in items.iter().take(OBJECTS).enumerate() {
            seed(kind, format!("{at}.json"), JSON, item.get().as_bytes());
            seed("renderings", format!("{kind}-{at}.json"), first(kind), &rendering(JSON, at, item.get().as_bytes()));
        }
        let protobuf = recorded(format!("{kind}.list.pb"))?;
        let items = Fields::new(Envelope::open(&protobuf)?.object).filter_map(Result::ok).filter(|it| it.number == 2);
        for (at, item) in items.take(OBJECTS).enumerate() {
            seed(kind, format!("{at}.pb"), PROTOBUF, item.as_bytes()?);
            seed("renderings", format!("{kind}-{at}.pb"), first(kind), &rendering(PROTOBUF, at, item.as_bytes()?));
        }
    }
    Ok(seeds)
}

/// Returns the first byte of an input of the target `renderings`, which selects the kind.
fn first(kind: &str) -> u8 {
    match kind {
        "endpointslice" => b'i',
        kind => kind.as_bytes()[0],
    }
}

/// Returns the remaining bytes of that input: encoding, seed of the rendering, object.
fn rendering(encoding: u8, at: usize, object: &[u8]) -> Vec<u8> {
    [&[encoding], &(at as u64).to_le_bytes()[..], object].concat()
}
