//! Frames that no recorder has written.

/// A skippable frame that announces a frame of this length, as a recorder writes before each.
pub(crate) fn announcing(length: u32) -> Vec<u8> {
    [0x184D_2A50_u32, 4, length].into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(crate) fn compressed(content: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(content, 3).expect("memory");
    [announcing(u32::try_from(packed.len()).expect("short")), packed].concat()
}
