//! The checksum of what one process writes and another one reads.

/// FNV-1a, 64 bits, over a number and bytes.
pub(crate) fn checksum(number: u64, bytes: &[u8]) -> u64 {
    let all = number.to_le_bytes().into_iter().chain(bytes.iter().copied());
    all.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
