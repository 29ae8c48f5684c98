//! Where a piece of text can be cut without changing its ids.
//!
//! Whatever merging makes is a token. So if no token holds the end of one character followed by the beginning of the next,
//! no merge can ever cross the border between the two, and the ids of the whole are those of both sides, one after the
//! other. Scripts written without spaces (Chinese, Japanese, Thai) give long pieces that hardly ever come twice; cut this
//! way, 98 % of their parts are in the cache. No token may be left out of the tables; one too many only costs a cut.

/// A set of numbers that may claim to hold more than it does.
#[derive(Debug, Clone)]
struct BitSet {
    bits: Vec<u64>,
}

impl BitSet {
    fn with_bits(bits: usize) -> Self {
        Self { bits: vec![0; bits / 64] }
    }

    fn insert(&mut self, number: u32) {
        let word = self.word(number);
        self.bits[word] |= 1 << (number % 64);
    }

    #[inline]
    fn may_hold(&self, number: u32) -> bool {
        self.bits[self.word(number)] >> (number % 64) & 1 != 0
    }

    #[inline]
    fn word(&self, number: u32) -> usize {
        number as usize / 64 & (self.bits.len() - 1)
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
/// All pairs of bytes.
const BYTE_PAIR_BITS: usize = 1 << 16;

#[inline]
fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// A character as its UTF-8 bytes, with what the sets need of it.
#[derive(Debug, Clone, Copy)]
struct Character {
    width: usize,
    first: u32,
    last: u32,
    hash: u32,
}

impl Character {
    /// The character that the bytes begin with, if they are long enough for it. They must not begin inside one.
    #[inline]
    fn at(bytes: &[u8]) -> Option<Self> {
        let first = *bytes.first()?;
        let width = match first {
            0..=0x7F => 1,
            0xF0.. => 4,
            0xE0.. => 3,
            _ => 2,
        };
        let number = match bytes.first_chunk() {
            Some(four) => u32::from_le_bytes(*four) & u32::MAX >> (32 - 8 * width),
            None => bytes.get(..width)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)),
        };
        let hash = number.wrapping_mul(0x9E37_79B1);
        Some(Self { width, first: u32::from(first), last: number >> (8 * width - 8), hash: hash ^ hash >> 15 })
    }
}

fn whole_whole(left: Character, right: Character) -> u32 {
    left.hash.wrapping_mul(5).wrapping_add(right.hash)
}

fn whole_part(left: Character, first: u32) -> u32 {
    left.hash.wrapping_add(first * 64)
}

fn part_whole(last: u32, right: Character) -> u32 {
    right.hash.wrapping_add(last * 64)
}

fn part_part(last: u32, first: u32) -> u32 {
    last << 8 | first
}

impl Borders {
    /// Looks through every token.
    pub fn new<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut borders = Self {
            whole_whole: BitSet::with_bits(PAIR_BITS),
            whole_part: BitSet::with_bits(PART_BITS),
            part_whole: BitSet::with_bits(PART_BITS),
            part_part: BitSet::with_bits(BYTE_PAIR_BITS),
        };
        for token in tokens {
            for border in (1..token.len()).filter(|at| !continues(token[*at])) {
                borders.insert(token, border);
            }
        }
        borders
    }

    fn insert(&mut self, token: &[u8], border: usize) {
        let left_start = token[..border].iter().rposition(|byte| !continues(*byte));
        let left_whole = left_start.and_then(|start| Character::at(&token[start..border]).filter(|left| start + left.width == border));
        let right_whole = Character::at(&token[border..]).filter(|right| border + right.width <= token.len());
        let (last, first) = (u32::from(token[border - 1]), u32::from(token[border]));
        match (left_whole, right_whole) {
            (Some(left), Some(right)) => self.whole_whole.insert(whole_whole(left, right)),
            (Some(left), None) => self.whole_part.insert(whole_part(left, first)),
            (None, Some(right)) => self.part_whole.insert(part_whole(last, right)),
            (None, None) => self.part_part.insert(part_part(last, first)),
        }
    }

    #[inline]
    fn may_be_crossed(&self, left: Character, right: Character) -> bool {
        // No branch between the four: which of them holds is as good as random.
        self.whole_whole.may_hold(whole_whole(left, right))
            | self.whole_part.may_hold(whole_part(left, right.first))
            | self.part_whole.may_hold(part_whole(left.last, right))
            | self.part_part.may_hold(part_part(left.last, right.first))
    }

    /// Calls `visit` with the start and end of the parts that `text[start..end]` can be cut into. The text is UTF-8, and
    /// `start` and `end` do not lie inside a character.
    #[inline]
    pub fn for_each_part(&self, text: &[u8], mut start: usize, end: usize, mut visit: impl FnMut(usize, usize)) {
        let Some(mut left) = text.get(start..).and_then(Character::at) else { return };
        let mut border = start + left.width;
        while border < end {
            let Some(right) = Character::at(&text[border..]) else { break };
            if !self.may_be_crossed(left, right) {
                visit(start, border);
                start = border;
            }
            left = right;
            border += right.width;
        }
        visit(start, end);
    }
}
