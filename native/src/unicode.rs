//! What kind of character stands at a place in UTF-8 text, as far as the published split patterns tell kinds apart.

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// The first block, one load away instead of two.
static ASCII: [u8; 128] = BLOCKS[BLOCK_OF[0] as usize];

/// The version of Unicode behind every table of this crate.
pub const UNICODE_VERSION: &str = "16.0.0";

/// Kind of a character. The numbering is the one in `build.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(u8);

impl Kind {
    /// Its number, below 9.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    const OTHER_LETTER: u8 = 3;
    const NUMBER: u8 = 4;
    const MARK: u8 = 5;
    const PUNCTUATION: u8 = 6;
    const SPACE: u8 = 7;
    const NEWLINE: u8 = 8;

    /// `\p{L}`
    #[inline]
    pub fn is_letter(self) -> bool {
        self.0.wrapping_sub(1) < 3
    }

    /// `\p{N}`
    #[inline]
    pub fn is_number(self) -> bool {
        self.0 == Self::NUMBER
    }

    /// `\p{M}`
    #[inline]
    pub fn is_mark(self) -> bool {
        self.0 == Self::MARK
    }

    /// `[\p{P}\p{S}]`
    #[inline]
    pub fn is_punctuation(self) -> bool {
        self.0 == Self::PUNCTUATION
    }

    /// `\s`, line breaks included
    #[inline]
    pub fn is_space(self) -> bool {
        self.0 >= Self::SPACE
    }

    /// `[\r\n]`
    #[inline]
    pub fn is_newline(self) -> bool {
        self.0 == Self::NEWLINE
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    #[inline]
    pub fn is_upper_side(self) -> bool {
        matches!(self.0, 1 | Self::OTHER_LETTER | Self::MARK)
    }

    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    #[inline]
    pub fn is_lower_side(self) -> bool {
        matches!(self.0, 2 | Self::OTHER_LETTER | Self::MARK)
    }
}

/// The kind of a code point.
#[inline]
pub fn kind_of(code_point: u32) -> Kind {
    let block = BLOCK_OF[(code_point >> 7) as usize];
    Kind(BLOCKS[block as usize][(code_point & 127) as usize])
}

/// `\w`: alphabetic, mark, decimal digit, connector punctuation or joiner.
pub fn is_word(character: char) -> bool {
    let code_point = character as u32;
    let after = WORDS.partition_point(|(first, _)| *first <= code_point);
    after > 0 && code_point <= WORDS[after - 1].1
}

/// The kind of the character that starts at `at`, and how many bytes it takes. `None` at the end of the text.
#[inline(always)] // left to itself the compiler makes it a call that returns through memory: splitting takes half as long again
pub fn kind_at(text: &[u8], at: usize) -> Option<(Kind, usize)> {
    let lead = *text.get(at)?;
    if lead < 0x80 {
        return Some((Kind(ASCII[lead as usize]), 1));
    }
    // Shorter only at the end of the text, where its last character may be shorter than four bytes.
    let four = text.get(at..at + 4).and_then(|four| four.try_into().ok());
    let (kind, width) = kind_beyond_ascii(four.unwrap_or_else(|| std::array::from_fn(|n| text.get(at + n).copied().unwrap_or(0))));
    Some((kind, width as usize))
}

/// The kind and width of the character beyond ASCII that these bytes begin with. The width is part of the guess at the branch:
/// by arithmetic on `lead`, all that comes after would wait for it, and DeepSeek's splitter take 5% longer.
#[inline(always)] // it is the loop body of `Classes::of`
pub fn kind_beyond_ascii(bytes: [u8; 4]) -> (Kind, u32) {
    let [lead, second, third, fourth] = bytes.map(u32::from);
    match lead {
        0..=0xDF => (kind_of((lead & 0x1F) << 6 | second & 0x3F), 2),
        0xE0..=0xEF => (kind_of((lead & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F), 3),
        _ => (kind_of(((lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F).min(0x10_FFFF)), 4),
    }
}
