//! Cutting where the kind of byte changes, between kinds that no token joins: what a SentencePiece model, which has no pattern,
//! leaves to find out. Most never join anything to a space behind it, or letters to punctuation.

use super::classes::{Ascii, BLOCK, classifier};

/// Spaces, letters, digits, bytes beyond ASCII, and the rest.
const KINDS: usize = 5;

/// Between which kinds text is cut.
#[derive(Debug, Clone)]
pub struct KindBorders {
    /// By the kind behind a border, then the one before it: all ones where no token holds both side by side.
    is_cut: [[u64; KINDS]; KINDS],
}

fn kind(byte: u8) -> usize {
    match byte {
        b' ' => 0,
        b'A'..=b'Z' | b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        0x80.. => 3,
        _ => 4,
    }
}

fn masks(ascii: &Ascii) -> [u64; KINDS] {
    let Ascii { spaces, letters, digits, bit7, .. } = *ascii;
    [spaces, letters, digits, bit7, !(spaces | letters | digits | bit7)]
}

impl KindBorders {
    /// Borders that none of these tokens crosses. None inside a run of one kind.
    pub fn between<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut is_cut = [[u64::MAX; KINDS]; KINDS];
        (0..KINDS).for_each(|kind| is_cut[kind][kind] = 0);
        for pair in tokens.flat_map(|token| token.windows(2)) {
            is_cut[kind(pair[1])][kind(pair[0])] = 0;
        }
        Self { is_cut }
    }

    /// Calls `visit` with the start and end of each piece.
    #[inline]
    pub fn for_each_piece(&self, text: &str, mut visit: impl FnMut(usize, usize)) {
        let text = text.as_bytes();
        let classify = classifier();
        let mut padded = [0; BLOCK];
        let (mut start, mut carried) = (0, [0u64; KINDS]);
        for at in (0..text.len()).step_by(BLOCK) {
            let rest = &text[at..];
            let block = rest.first_chunk().unwrap_or_else(|| {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            });
            let masks = masks(&classify(block));
            let before: [u64; KINDS] = std::array::from_fn(|kind| masks[kind] << 1 | carried[kind]);
            let mut starts = 0;
            for (mask, is_cut) in masks.iter().zip(&self.is_cut) {
                let led = before.iter().zip(is_cut).fold(0, |led, (before, is_cut)| led | before & is_cut);
                starts |= mask & led;
            }
            carried = masks.map(|mask| mask >> (BLOCK - 1));
            if rest.len() < BLOCK {
                starts &= (1 << rest.len()) - 1;
            }
            while starts != 0 {
                let end = at + starts.trailing_zeros() as usize;
                visit(start, end); // the only call of two that runs often
                start = end;
                starts &= starts - 1;
            }
        }
        if start < text.len() {
            visit(start, text.len());
        }
    }
}
