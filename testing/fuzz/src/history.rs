//! Check of the reader of history files.

use std::error::Error;
use std::sync::Arc;
use std::{fs, path::Path};

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_history::{Archive, Author, Encoder, Gap, Kind, ReadError, Recorded, Select};
use serde::de::DeserializeOwned;

/// First byte of an input that is a file.
pub const FILE: u8 = b'f';
/// First byte of an input that is the contents of frames, each after its length in three bytes. They are compressed, so that
/// changed bytes do not fail at a checksum. Any byte other than [`FILE`] has the same effect.
pub const FRAMES: u8 = b'c';

/// Begins the skippable frame before each frame.
const HEAD: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

/// Reads a history file to its end. Returns whether that is possible; damaged files must cause no panic.
pub fn history(bytes: &[u8]) -> bool {
    let Some((form, rest)) = bytes.split_first() else { return false };
    read(if *form == FILE { rest.to_vec() } else { file(rest) }).is_ok()
}

fn read(file: Vec<u8>) -> Result<(), ReadError> {
    let mut archive = Archive::from_buffers([file])?;
    let mut replay = archive.replay(Select::All, Timestamp::MIN)?;
    while replay.next_change()?.is_some() {}
    Ok(())
}

/// Returns the file that consists of these frames.
fn file(mut contents: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while let Some(([a, b, c], rest)) = contents.split_first_chunk() {
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let (content, rest) = rest.split_at(length.min(rest.len()));
        contents = rest;
        let Ok(packed) = zstd::bulk::compress(content, 1) else { return file };
        file.extend(HEAD);
        file.extend(u32::try_from(packed.len()).unwrap_or(u32::MAX).to_le_bytes());
        file.extend(packed);
    }
    file
}

/// Returns the seeds: a file with the objects recorded in the directory `fixtures` and changes of them, in both forms.
///
/// # Errors
///
/// A recording is missing or malformed.
pub fn seeds(fixtures: &Path) -> Result<[Vec<u8>; 2], Box<dyn Error>> {
    let file = example(fixtures)?;
    Ok([[&[FILE], &file[..]].concat(), frames(&file)])
}

fn example(fixtures: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let pods = recorded::<Pod>(fixtures, "pod")?;
    let slices = recorded::<EndpointSlice>(fixtures, "endpointslice")?;
    let (mut encoder, mut file, mut now) = (Encoder::new("seed", [Kind::Node])?, Vec::new(), Timestamp::UNIX_EPOCH);
    let author = Author { manager: "kubelet".into(), user: "system:node:a".into(), time: Some(now) };
    let others = recorded::<Service>(fixtures, "service")?.into_iter().map(Recorded::from);
    let others = others.chain(recorded::<Node>(fixtures, "node")?.into_iter().map(Recorded::from));
    let others = others.chain(recorded::<Endpoints>(fixtures, "endpoints")?.into_iter().map(Recorded::from));
    for object in others.chain(pods.iter().cloned().map(Recorded::from)) {
        encoder.put(now, None, object);
    }
    encoder.begin_segment(now, &mut file)?;
    for (at, pod) in pods.iter().enumerate() {
        now += SignedDuration::from_millis(250);
        match at % 3 {
            0 => encoder.remove(now, Some(&author), Kind::Pod, &Recorded::from(Arc::clone(pod)).key()),
            _ => encoder.put(now, Some(&author), Arc::new(Pod { ready: !pod.ready, ..Pod::clone(pod) })),
        }
    }
    encoder.flush(&mut file)?;
    encoder.gap(now, &Gap { since: now, reason: "connection reset".into() });
    for slice in &slices {
        encoder.put(now, Some(&author), Arc::clone(slice));
        let mut fewer = EndpointSlice::clone(slice);
        fewer.endpoints.pop();
        encoder.put(now, None, Arc::new(fewer));
    }
    encoder.end_segment(&mut file)?;
    Ok(file)
}

fn recorded<T: DeserializeOwned>(fixtures: &Path, kind: &str) -> Result<Vec<Arc<T>>, Box<dyn Error>> {
    let list: serde_json::Value = serde_json::from_slice(&fs::read(fixtures.join(format!("{kind}.list.json")))?)?;
    let items = list["items"].as_array().into_iter().flatten();
    Ok(items.map(|item| T::deserialize(item).map(Arc::new)).collect::<Result<_, _>>()?)
}

/// Returns the contents of the frames of a file.
fn frames(file: &[u8]) -> Vec<u8> {
    let mut contents = vec![FRAMES];
    let mut rest = file;
    while let Some((head, body)) = rest.split_first_chunk::<12>() {
        let length = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        if head[..8] == HEAD {
            let Ok(content) = zstd::stream::decode_all(&body[..length.min(body.len())]) else { break };
            contents.extend(&u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes()[..3]);
            contents.extend(content);
            rest = body.get(length..).unwrap_or_default();
        } else {
            // The end of a segment.
            rest = body.get(12..).unwrap_or_default();
        }
    }
    contents
}
