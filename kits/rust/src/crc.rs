//! CRC-32C (Castagnoli; RFC 3720, appendix B.4).

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut crc, mut bit) = (i as u32, 0);
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

/// The checksum of bytes, continued from that of those before them.
pub fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction.
        return unsafe { by_instruction(before, bytes) };
    }
    !bytes.iter().fold(!before, |crc, b| crc >> 8 ^ TABLE[(crc as u8 ^ b) as usize])
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
unsafe fn by_instruction(before: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u64, _mm_crc32_u8};
    let (words, rest) = bytes.as_chunks::<8>();
    let crc = words.iter().fold(u64::from(!before), |crc, w| _mm_crc32_u64(crc, u64::from_le_bytes(*w)));
    !rest.iter().fold(crc as u32, |crc, b| _mm_crc32_u8(crc, *b))
}
