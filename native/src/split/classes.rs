//! The kinds of the characters in 64 bytes of text, one bit per byte.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::unicode::kind_beyond_ascii;

/// Bytes classified at a time: as many as there are bits in a mask.
pub const BLOCK: usize = 64;
/// A block and what its last character may need.
pub const WINDOW: usize = BLOCK + 3;

/// What ASCII bytes are, and where others are. Bit i stands for byte i.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Ascii {
    pub letters: u64,
    pub digits: u64,
    pub spaces: u64,
    /// Tab, vertical tab, form feed.
    pub blanks: u64,
    pub newlines: u64,
    pub apostrophes: u64,
    pub slashes: u64,
    /// Bytes with bit 4 set: of those that begin a character beyond ASCII, the ones of four bytes.
    pub bit4: u64,
    /// Bytes with bit 5 set: among letters, the small ones; among first bytes, those of three and of four.
    pub bit5: u64,
    /// Bytes with bit 6 set: beyond ASCII, the first ones of characters.
    pub bit6: u64,
    /// Bytes of characters beyond ASCII.
    pub bit7: u64,
    /// First bytes of which every character is a letter without case: E5 to E8, most of Chinese.
    pub ideographs: u64,
}

/// Classes as bits. Letters take two, so that each bit is a product: a set of high half-bytes times a set of low ones, which is what a
/// 16-entry byte shuffle can look up.
const LETTERS_4_6: u8 = 1;
const LETTERS_5_7: u8 = 2;
const DIGITS: u8 = 1 << 2;
const SPACES: u8 = 1 << 3;
const BLANKS: u8 = 1 << 4;
const NEWLINES: u8 = 1 << 5;
const APOSTROPHES: u8 = 1 << 6;
const SLASHES: u8 = 1 << 7;

/// Classes that bytes with this high half may be in. Bytes beyond ASCII are in none.
const BY_HIGH_HALF: [u8; 16] = {
    let mut table = [0; 16];
    table[0] = BLANKS | NEWLINES;
    table[2] = SPACES | APOSTROPHES | SLASHES;
    table[3] = DIGITS;
    table[4] = LETTERS_4_6;
    table[5] = LETTERS_5_7;
    table[6] = LETTERS_4_6;
    table[7] = LETTERS_5_7;
    table
};

/// Classes that bytes with this low half may be in: letters are 0x41 to 0x5A and 0x61 to 0x7A.
const BY_LOW_HALF: [u8; 16] = {
    let mut table = [0; 16];
    let mut low = 0;
    while low < 16 {
        table[low] |= if low >= 1 { LETTERS_4_6 } else { 0 };
        table[low] |= if low <= 0xA { LETTERS_5_7 } else { 0 };
        table[low] |= if low <= 9 { DIGITS } else { 0 };
        low += 1;
    }
    table[0] |= SPACES;
    table[9] |= BLANKS; // tab
    table[0xB] |= BLANKS;
    table[0xC] |= BLANKS;
    table[0xA] |= NEWLINES;
    table[0xD] |= NEWLINES;
    table[7] |= APOSTROPHES;
    table[0xF] |= SLASHES;
    table
};

/// Classifies a block; which one runs is decided once, by what the processor can do.
pub type Classify = fn(&[u8; BLOCK]) -> Ascii;

/// The fastest classifier for this processor.
#[inline]
pub fn classifier() -> Classify {
    #[cfg(target_arch = "x86_64")]
    if let Some(classify) = x86::classifier() {
        return classify;
    }
    classify
}

/// The definition, and what runs on processors without an own version.
pub fn classify(block: &[u8; BLOCK]) -> Ascii {
    let mut masks = [0u64; 8];
    let mut ascii = Ascii::default();
    for (eight, bytes) in block.chunks_exact(8).enumerate() {
        let mut classes = [0u8; 8];
        for (class, byte) in classes.iter_mut().zip(bytes) {
            *class = BY_HIGH_HALF[usize::from(byte >> 4)] & BY_LOW_HALF[usize::from(byte & 15)];
        }
        let classes = u64::from_le_bytes(classes);
        let bytes = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        for (bit, mask) in masks.iter_mut().enumerate() {
            *mask |= gather(classes >> bit) << (8 * eight);
        }
        for (bit, mask) in [(4, &mut ascii.bit4), (5, &mut ascii.bit5), (6, &mut ascii.bit6), (7, &mut ascii.bit7)] {
            *mask |= gather(bytes >> bit) << (8 * eight);
        }
        for (place, byte) in block[8 * eight..8 * eight + 8].iter().enumerate() {
            ascii.ideographs |= u64::from((0xE5..=0xE8).contains(byte)) << (8 * eight + place);
        }
    }
    let [letters_a, letters_b, digits, spaces, blanks, newlines, apostrophes, slashes] = masks;
    Ascii { letters: letters_a | letters_b, digits, spaces, blanks, newlines, apostrophes, slashes, ..ascii }
}

/// The lowest bit of each of eight bytes, side by side.
fn gather(bytes: u64) -> u64 {
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// What characters are, one bit per byte: all bytes of a character have its class.
#[derive(Debug, Clone, Copy)]
pub struct Classes {
    pub letters: u64,
    pub upper: u64,
    pub lower: u64,
    pub marks: u64,
    pub digits: u64,
    pub spaces: u64,
    pub blanks: u64,
    pub newlines: u64,
    pub apostrophes: u64,
    pub slashes: u64,
    /// All but the first byte of a character.
    pub tails: u64,
    /// Numbers and white space beyond ASCII: rare, and left to the rules.
    pub unclear: u64,
}

impl Classes {
    /// Looks at a block and the three bytes after it, into which its last character may reach. It must begin with a character.
    #[inline]
    pub fn of(window: &[u8; WINDOW], ascii: Ascii) -> Self {
        let Ascii { letters, digits, spaces, blanks, newlines, apostrophes, slashes, bit5, .. } = ascii;
        let (lower, upper) = (letters & bit5, letters & !bit5);
        let mut classes =
            Self { letters, upper, lower, marks: 0, digits, spaces, blanks, newlines, apostrophes, slashes, tails: 0, unclear: 0 };
        if ascii.bit7 != 0 {
            classes.add_beyond_ascii(window, ascii);
        }
        classes
    }

    /// Adds up the first bytes of each kind in an array (a `match` would mispredict at every change of kind), then lets
    /// each run over the rest of its character.
    fn add_beyond_ascii(&mut self, window: &[u8; WINDOW], ascii: Ascii) {
        let firsts = ascii.bit7 & ascii.bit6;
        let mut of_kind = [0u64; 16];
        let mut left = firsts & !ascii.ideographs;
        while left != 0 {
            let offset = left.trailing_zeros() as usize;
            let Some(four) = window.get(offset..offset + 4).and_then(|four| four.try_into().ok()) else { break };
            let (kind, _) = kind_beyond_ascii(four);
            of_kind[kind.index() & 15] |= left & left.wrapping_neg();
            left &= left - 1;
        }
        let of_three = firsts & ascii.bit5;
        let of_four = of_three & ascii.bit4;
        let whole = |firsts: u64| firsts | firsts << 1 | (firsts & of_three) << 2 | (firsts & of_four) << 3;
        let [_, upper, lower, other_letters, numbers, marks, _, spaces, newlines, ..] = of_kind;
        let other_letters = other_letters | ascii.ideographs;
        self.upper |= whole(upper);
        self.lower |= whole(lower);
        self.letters |= whole(upper | lower | other_letters);
        self.marks = whole(marks);
        self.unclear = whole(numbers | spaces | newlines);
        self.tails = ascii.bit7 & !firsts;
    }
}
