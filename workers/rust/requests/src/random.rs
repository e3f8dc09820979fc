//! The content of codec bytes: that of Go's ChaCha8, so that every end knows it.
//! Source: C2SP, "chacha8rand".

/// Bytes that nothing can compress, the same for every trial of a direction.
pub fn random(size: usize, direction: u8) -> Vec<u8> {
    let mut key = [0u32; 8];
    key[0] = u32::from(direction);
    let mut bytes = Vec::with_capacity(size + 1024);
    while bytes.len() < size {
        let from = bytes.len();
        for group in (0..16).step_by(4) {
            let side: [[u32; 16]; 4] = std::array::from_fn(|i| block(&key, group + i as u32));
            for word in 0..16 {
                side.iter().for_each(|b| bytes.extend(b[word].to_le_bytes()));
            }
        }
        // The last 32 bytes of 1,024 are the next key.
        let next = from + 1024 - 32;
        for (i, word) in key.iter_mut().enumerate() {
            let at = next + 4 * i;
            *word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        }
        bytes.truncate(next);
    }
    bytes.truncate(size);
    bytes
}

/// One block of eight rounds. Only the key's words are added to the result.
fn block(key: &[u32; 8], counter: u32) -> [u32; 16] {
    let mut b = [0u32; 16];
    b[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    b[4..12].copy_from_slice(key);
    b[12] = counter;
    for _ in 0..4 {
        for c in 0..4 {
            quarter(&mut b, c, 4 + c, 8 + c, 12 + c);
        }
        for c in 0..4 {
            quarter(&mut b, c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
        }
    }
    for (to, word) in b[4..12].iter_mut().zip(key) {
        *to = to.wrapping_add(*word);
    }
    b
}

fn quarter(b: &mut [u32; 16], a: usize, i: usize, j: usize, k: usize) {
    for (turn, other) in [(16, 12), (8, 7)] {
        b[a] = b[a].wrapping_add(b[i]);
        b[k] = (b[k] ^ b[a]).rotate_left(turn);
        b[j] = b[j].wrapping_add(b[k]);
        b[i] = (b[i] ^ b[j]).rotate_left(other);
    }
}

#[cfg(test)]
mod tests {
    /// The first bytes that Go's rand.NewChaCha8 gives for the key "u" and zeros.
    #[test]
    fn it_is_gos() {
        assert_eq!(super::random(16, b'u'), GO[..16]);
        assert_eq!(super::random(3000, b'u').len(), 3000);
        assert_eq!(super::random(3000, b'u')[2984..], GO[16..]);
    }

    const GO: [u8; 32] = [142, 202, 142, 116, 239, 36, 210, 181, 148, 140, 73, 38, 161, 38, 33, 152, 43, 204, 197, 224, 85, 113, 55, 55, 150, 165, 204, 21, 251, 16, 182, 32];
}
