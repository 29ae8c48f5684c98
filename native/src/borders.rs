//! Where a piece of text can be cut without changing its ids.
//!
//! Whatever merging makes is a token. So if no token holds the end of one character followed by the beginning of the next,
//! no merge can ever cross the border between the two, and the ids of the whole are those of both sides, one after the
//! other. Scripts written without spaces (Chinese, Japanese, Thai) give long pieces that hardly ever come twice; cut this
//! way, 98 % of their parts are in the cache. No token may be left out of the tables; one too many only costs a cut.

/// A set of numbers that may claim to hold more than it does: 64 bits for each word.
#[derive(Debug, Clone)]
struct BitSet<const WORDS: usize>(Box<[u64; WORDS]>);

impl<const WORDS: usize> BitSet<WORDS> {
    fn new() -> Self {
        Self(Box::new([0; WORDS]))
    }

    fn insert(&mut self, number: u32) {
        self.0[number as usize / 64 % WORDS] |= 1 << (number % 64);
    }

    #[inline]
    fn may_hold(&self, number: u32) -> bool {
        self.0[number as usize / 64 % WORDS] >> (number % 64) & 1 != 0
    }
}

/// The borders between characters that some token crosses. A token may begin or end inside a character; then only the
/// last byte (of the left one) or the first byte (of the right one) is kept, which may hold back a cut but never allows a
/// wrong one.
#[derive(Debug, Clone)]
pub struct Borders {
    /// 27,000 pairs of characters (Qwen) fill a tenth of it.
    whole_whole: BitSet<{ (1 << 18) / 64 }>,
    whole_part: BitSet<{ (1 << 15) / 64 }>,
    part_whole: BitSet<{ (1 << 15) / 64 }>,
    /// All pairs of bytes.
    part_part: BitSet<{ (1 << 16) / 64 }>,
}

/// Borders looked at before any is acted upon.
const BORDERS: usize = 63;

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
        let mut borders =
            Self { whole_whole: BitSet::new(), whole_part: BitSet::new(), part_whole: BitSet::new(), part_part: BitSet::new() };
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
        while start < end {
            // First a bit for every border, then the cuts: to branch at each, as good as random, would mispredict every third.
            let (mut cuts, mut borders, mut looked_at) = (0u64, [end; BORDERS + 1], 0);
            while looked_at < BORDERS {
                let right = if border < end { text.get(border..).and_then(Character::at) } else { None };
                let Some(right) = right else {
                    cuts |= 1 << looked_at; // the end, which is no border
                    break;
                };
                cuts |= u64::from(!self.may_be_crossed(left, right)) << looked_at;
                borders[looked_at] = border;
                looked_at += 1;
                left = right;
                border += right.width;
            }
            while cuts != 0 {
                let cut = borders[cuts.trailing_zeros() as usize];
                visit(start, cut); // the only call: it is inlined
                start = cut;
                cuts &= cuts - 1;
            }
        }
    }
}
