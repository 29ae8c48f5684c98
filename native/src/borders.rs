//! Where a piece of text can be cut without changing its ids.
//!
//! Whatever merging makes is a token. So if no token holds the end of one character followed by the beginning of the next,
//! no merge can ever cross the border between the two, and the ids of the whole are those of both sides, one after the
//! other. Scripts written without spaces (Chinese, Japanese, Thai) give long pieces that hardly ever come twice; cut this
//! way, 98 % of their parts are in the cache. No token may be left out of the tables; one too many only costs a cut.

/// A set of keys that may claim to hold more than it does.
#[derive(Debug, Clone)]
struct BitSet {
    bits: Vec<u64>,
    shift: u32,
}

impl BitSet {
    fn with_bits(bits: usize) -> Self {
        Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() }
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> usize {
        let key = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (key >> self.shift) as usize
    }

    fn insert(&mut self, left: u32, right: u32) {
        let place = self.place(left, right);
        self.bits[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    fn may_hold(&self, left: u32, right: u32) -> bool {
        let place = self.place(left, right);
        self.bits[place / 64] >> (place % 64) & 1 != 0
    }
}

/// The borders between characters that some token crosses. A token may begin or end inside a character; then only the
/// last byte (of the left one) or the first byte (of the right one) is kept, which may hold back a cut but never allows a
/// wrong one.
#[derive(Debug, Clone)]
pub struct Borders {
    whole_whole: BitSet,
    whole_part: BitSet,
    part_whole: BitSet,
    part_part: BitSet,
}

/// 27,000 pairs of characters (Qwen) fill a tenth of this many bits.
const PAIR_BITS: usize = 1 << 18;
const PART_BITS: usize = 1 << 15;

#[inline]
fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Bytes of the character that a lead byte announces.
#[inline]
fn width(lead: u8) -> usize {
    match lead {
        0..=0x7F => 1,
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// The bytes of a character (at most four) as a number.
#[inline]
fn as_number(character: &[u8]) -> u32 {
    character.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

impl Borders {
    /// Looks through every token.
    pub fn new<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let part = || BitSet::with_bits(PART_BITS);
        let mut borders = Self { whole_whole: BitSet::with_bits(PAIR_BITS), whole_part: part(), part_whole: part(), part_part: part() };
        for token in tokens {
            for border in (1..token.len()).filter(|at| !continues(token[*at])) {
                borders.insert(token, border);
            }
        }
        borders
    }

    fn insert(&mut self, token: &[u8], border: usize) {
        let left_start = token[..border].iter().rposition(|byte| !continues(*byte));
        let left_whole = left_start.map(|start| &token[start..border]).filter(|left| left.len() == width(left[0]));
        let right_whole = token[border..].get(..width(token[border]));
        let (last, first) = (u32::from(token[border - 1]), u32::from(token[border]));
        match (left_whole, right_whole) {
            (Some(left), Some(right)) => self.whole_whole.insert(as_number(left), as_number(right)),
            (Some(left), None) => self.whole_part.insert(as_number(left), first),
            (None, Some(right)) => self.part_whole.insert(last, as_number(right)),
            (None, None) => self.part_part.insert(last, first),
        }
    }

    #[inline]
    fn may_be_crossed(&self, left: &[u8], right: &[u8]) -> bool {
        let (left_number, right_number) = (as_number(left), as_number(right));
        let (last, first) = (u32::from(left[left.len() - 1]), u32::from(right[0]));
        self.whole_whole.may_hold(left_number, right_number)
            || self.whole_part.may_hold(left_number, first)
            || self.part_whole.may_hold(last, right_number)
            || self.part_part.may_hold(last, first)
    }

    /// Calls `visit` with the parts that a piece of valid UTF-8 can be cut into.
    #[inline]
    pub fn for_each_part<'p>(&self, piece: &'p [u8], mut visit: impl FnMut(&'p [u8])) {
        let (mut start, mut left, mut right) = (0, 0, width(piece[0]));
        while right < piece.len() {
            let end = right + width(piece[right]);
            if !self.may_be_crossed(&piece[left..right], &piece[right..end]) {
                visit(&piece[start..right]);
                start = right;
            }
            (left, right) = (right, end);
        }
        visit(&piece[start..]);
    }
}
