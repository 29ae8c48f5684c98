//! The replacements of a SentencePiece normaliser (`precompiled_charsmap`).
//!
//! Four bytes: the length of the trie. The trie: 32-bit units, as Darts-clone lays a double array out. Then the replacements, each
//! ended by NUL; the trie holds where they begin. From a unit at `place`, byte `b` leads to `place ^ offset ^ b`, if the unit
//! there bears that label; a unit that ends a key has its value at `place ^ offset`.

use crate::error::EngineError;

const LEAF: u32 = 1 << 31;
const HAS_VALUE: u32 = 1 << 8;
/// Children of a unit are in the block of this many that its offset leads to.
const BLOCK: usize = 256;
/// Of more keys that begin one another SentencePiece looks at the shortest 32.
const KEYS_AT_ONE_PLACE: usize = 32;

/// Replacements by longest prefix.
#[derive(Debug, Clone)]
pub struct Charsmap {
    units: Vec<u32>,
    replacements: Vec<u8>,
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}

impl Charsmap {
    /// Takes what is in a model file. Every place that a walk along a text can reach is checked here.
    pub fn new(blob: &[u8]) -> Result<Self, EngineError> {
        let refused = |what: &str| EngineError::Spec(format!("the charsmap is damaged: {what}"));
        let (length, rest) = blob.split_first_chunk().ok_or_else(|| refused("it is too short"))?;
        let (trie, replacements) =
            rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(|| refused("its trie is cut off"))?;
        if trie.is_empty() || trie.len() % (4 * BLOCK) != 0 {
            return Err(refused("the length of its trie is wrong"));
        }
        let units: Vec<u32> = trie.chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]])).collect();
        if replacements.last() != Some(&0) {
            return Err(refused("its last replacement does not end"));
        }
        for (place, &unit) in units.iter().enumerate() {
            if unit & LEAF != 0 {
                if (unit & !LEAF) as usize >= replacements.len() {
                    return Err(refused("a key leads to no replacement"));
                }
                continue;
            }
            let leaf = units.get(place ^ offset(unit)).ok_or_else(|| refused("its trie leads beyond its end"))?;
            if unit & HAS_VALUE != 0 && leaf & LEAF == 0 {
                return Err(refused("a key has no replacement"));
            }
        }
        Ok(Self { units, replacements: replacements.to_vec() })
    }

    /// Whether everything that it puts into a text is text; else it is refused.
    pub fn is_text(&self) -> Result<(), EngineError> {
        let leaves = self.units.iter().filter(|unit| **unit & LEAF != 0);
        if leaves.into_iter().all(|leaf| std::str::from_utf8(self.replacement((leaf & !LEAF) as usize)).is_ok()) {
            return Ok(());
        }
        Err(EngineError::Spec("the charsmap replaces by what is not UTF-8; use engine=\"reference\"".to_owned()))
    }

    fn replacement(&self, begin: usize) -> &[u8] {
        self.replacements.get(begin..).and_then(|rest| rest.split(|byte| *byte == 0).next()).unwrap_or_default()
    }

    /// Whether a key begins with this byte.
    pub fn has_key_from(&self, byte: u8) -> bool {
        let place = offset(self.units[0]) ^ usize::from(byte);
        self.units.get(place).is_some_and(|unit| unit & (LEAF | 0xFF) == u32::from(byte))
    }

    /// How long the longest key is that the text begins with, and what replaces it.
    pub fn longest(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let (mut place, mut keys, mut found) = (offset(self.units[0]), 0, None);
        for (at, &byte) in text.iter().enumerate() {
            place ^= usize::from(byte);
            let unit = *self.units.get(place)?;
            if unit & (LEAF | 0xFF) != u32::from(byte) {
                break;
            }
            place ^= offset(unit);
            if unit & HAS_VALUE != 0 {
                found = Some((at + 1, (self.units[place] & !LEAF) as usize));
                keys += 1;
                if keys == KEYS_AT_ONE_PLACE {
                    break;
                }
            }
        }
        let (length, begin) = found?;
        Some((length, self.replacement(begin)))
    }

    /// Replaces in text that may hold bytes that are no UTF-8, which stay.
    pub fn replace(&self, text: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        while at < text.len() {
            if let Some((length, replacement)) = self.longest(&text[at..]) {
                out.extend_from_slice(replacement);
                at += length;
                continue;
            }
            // The whole character, so that no key is looked for inside it.
            let width = text[at..].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8);
            out.extend_from_slice(&text[at..at + width]);
            at += width;
        }
        out
    }
}
