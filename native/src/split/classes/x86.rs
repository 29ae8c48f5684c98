//! Classification with the vector instructions of x86-64. Each bit of a class byte is brought to where one instruction
//! collects it from all lanes. `classify` in the parent module says what must come out; a test compares bit for bit.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_sub_epi8,
};

use super::{Ascii, BLOCK, BY_HIGH_HALF, BY_LOW_HALF, Classify};

/// The version for processors with AVX2. One for AVX-512 was written and was 8 % slower in all on a Xeon (Cascade Lake).
pub fn classifier() -> Option<Classify> {
    is_x86_feature_detected!("avx2").then_some(avx2 as Classify)
}

/// Only ever reached through `classifier`.
fn avx2(block: &[u8; BLOCK]) -> Ascii {
    // SAFETY: `classifier` hands this out only after finding AVX2.
    unsafe { classify_avx2(block) }
}

#[target_feature(enable = "avx2")]
unsafe fn classify_avx2(block: &[u8; BLOCK]) -> Ascii {
    // SAFETY: the loads read twice 32 bytes from an array of 64, and 16 from arrays of 16, at any alignment.
    let (first, second, by_high_half, by_low_half) = unsafe {
        (
            _mm256_loadu_si256(block.as_ptr().cast()),
            _mm256_loadu_si256(block.as_ptr().add(32).cast()),
            _mm256_broadcastsi128_si256(_mm_loadu_si128(BY_HIGH_HALF.as_ptr().cast())),
            _mm256_broadcastsi128_si256(_mm_loadu_si128(BY_LOW_HALF.as_ptr().cast())),
        )
    };
    let half = _mm256_set1_epi8(0x0F);
    let classes_of = |bytes: __m256i| {
        let high_half = _mm256_shuffle_epi8(by_high_half, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
        _mm256_and_si256(high_half, _mm256_shuffle_epi8(by_low_half, _mm256_and_si256(bytes, half)))
    };
    let (classes_first, classes_second) = (classes_of(first), classes_of(second));
    let are_ideographs = |bytes: __m256i| {
        let above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(0xE5_u8 as i8));
        _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_set1_epi8(3)), above)
    };
    // The sign bits of both halves: `movemask` looks at nothing else. Shifting 16-bit lanes left brings bit 7 - n there.
    macro_rules! signs {
        ($left:expr, $first:expr, $second:expr) => {{
            let low = _mm256_movemask_epi8(_mm256_slli_epi16::<$left>($first)) as u32;
            let high = _mm256_movemask_epi8(_mm256_slli_epi16::<$left>($second)) as u32;
            u64::from(high) << 32 | u64::from(low)
        }};
    }
    Ascii {
        letters: signs!(7, classes_first, classes_second) | signs!(6, classes_first, classes_second),
        digits: signs!(5, classes_first, classes_second),
        spaces: signs!(4, classes_first, classes_second),
        blanks: signs!(3, classes_first, classes_second),
        newlines: signs!(2, classes_first, classes_second),
        apostrophes: signs!(1, classes_first, classes_second),
        slashes: signs!(0, classes_first, classes_second),
        bit4: signs!(3, first, second),
        bit5: signs!(2, first, second),
        bit6: signs!(1, first, second),
        bit7: signs!(0, first, second),
        ideographs: signs!(0, are_ideographs(first), are_ideographs(second)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::classify, *};

    /// Every byte value in every lane, with others around it.
    #[test]
    fn the_vector_version_equals_the_definition() {
        let Some(vectors) = classifier() else { return };
        for value in 0..=255u8 {
            let all_different: [u8; BLOCK] = std::array::from_fn(|lane| (lane as u8).wrapping_mul(value | 1).wrapping_add(value));
            for block in [all_different, [value; BLOCK]] {
                assert_eq!(vectors(&block), classify(&block));
            }
        }
    }
}
