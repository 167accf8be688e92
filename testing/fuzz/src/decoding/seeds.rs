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
    pub target: &'static str,
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
    let mut seed = |target: &'static str, name: String, parts: &[&[u8]]| {
        seeds.push(Seed { target, name, bytes: parts.concat() });
    };
    for (encoding, suffix) in [(JSON, "json"), (PROTOBUF, "pb")] {
        for target in ["list", "watch"] {
            let body = recorded(format!("service.{target}.{suffix}"))?;
            // Chunks of 256, 8 and 1 bytes.
            for step in [255, 7, 0] {
                seed(target, format!("{suffix}-step-{step}"), &[&[encoding, step], &body]);
            }
        }
    }
    for (first, kind) in
        [(b'p', "pod"), (b's', "service"), (b'n', "node"), (b'i', "endpointslice"), (b'e', "endpoints")]
    {
        let json = recorded(format!("{kind}.list.json"))?;
        let List { items } = serde_json::from_slice(&json)?;
        let protobuf = recorded(format!("{kind}.list.pb"))?;
        let fields = Fields::new(Envelope::open(&protobuf)?.object).filter_map(Result::ok).filter(|it| it.number == 2);
        let messages = fields.map(|item| item.as_bytes()).collect::<Result<Vec<_>, _>>()?;
        let objects = items.iter().take(OBJECTS).map(|item| (JSON, item.get().as_bytes()));
        let objects = objects.chain(messages.into_iter().take(OBJECTS).map(|item| (PROTOBUF, item)));
        for (at, (encoding, object)) in objects.enumerate() {
            seed("object", format!("{kind}-{at}"), &[&[first, encoding], object]);
            let choices = (at as u64).to_le_bytes();
            seed("renderings", format!("{kind}-{at}"), &[&[first, encoding], &choices, object]);
        }
    }
    Ok(seeds)
}
