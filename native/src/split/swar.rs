//! Eight bytes at a time in a 64-bit register: where a run of ASCII letters ends.
//!
//! A loop over single bytes mispredicts once per word, at its end; this finds the end without a branch per byte
//! (together with a fast path for ASCII words, splitting English goes from 108 to 248 MB/s; docs/performance.md).

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// The high bit of every byte that is an ASCII letter.
#[inline]
pub fn any_case(bytes: u64) -> u64 {
    lower_case(bytes | (0x20 * ONES))
}

/// The high bit of every byte in a..=z.
#[inline]
pub fn lower_case(bytes: u64) -> u64 {
    let low = bytes & !HIGH;
    let from_a = low + (0x80 - u64::from(b'a')) * ONES;
    let above_z = low + (0x7F - u64::from(b'z')) * ONES;
    from_a & !above_z & !bytes & HIGH
}

/// The end of the run of letters that `belongs` marks, from `at` on.
#[inline]
pub fn letters_end(text: &[u8], mut at: usize, belongs: impl Fn(u64) -> u64) -> usize {
    while let Some(window) = text.get(at..at + 8).and_then(|window| window.try_into().ok()) {
        let outside = !belongs(u64::from_le_bytes(window)) & HIGH;
        if outside != 0 {
            return at + outside.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + text[at..].iter().take_while(|byte| belongs(u64::from(**byte)) & 0x80 != 0).count()
}
