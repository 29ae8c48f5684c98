//! Pieces already merged, so that a word is merged once and copied from then on.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// A piece of up to 15 bytes and its length in one number: equality is one comparison.
pub type PackedPiece = u128;

/// Longest piece that packs.
pub const PACKED_BYTES: usize = 15;

/// Packs `text[start..end]`; `None` if it is longer than 15 bytes.
#[inline]
pub fn pack(text: &[u8], start: usize, end: usize) -> Option<PackedPiece> {
    let length = end - start;
    if length > PACKED_BYTES {
        return None;
    }
    let bytes = match text.get(start..start + 16).and_then(|window| window.try_into().ok()) {
        Some(window) => u128::from_le_bytes(window) & ((1 << (8 * length)) - 1),
        None => {
            let mut window = [0; 16];
            window[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(window)
        }
    };
    Some(bytes | (length as u128) << 120)
}

/// Marks a packed piece as part of a longer one, so that the two never answer for each other.
#[inline]
pub fn as_part(packed: PackedPiece) -> PackedPiece {
    packed | 1 << 127
}

/// The bytes of a packed piece.
pub fn unpack(packed: PackedPiece) -> Vec<u8> {
    packed.to_le_bytes()[..(packed >> 120) as usize].to_vec()
}

/// Hash of a packed piece.
#[inline]
pub fn hash(packed: PackedPiece) -> u64 {
    let folded = (packed as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let high = ((packed >> 64) as u64 ^ folded.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    high ^ (high >> 32)
}

/// Ids kept in an entry; 98 % of English pieces need no more than two.
const INLINE_IDS: usize = 3;

/// Two entries fill a cache line. `length` 0 marks an empty one.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Entry {
    piece: PackedPiece,
    length: u32,
    ids: [u32; INLINE_IDS],
}

const EMPTY: Entry = Entry { piece: 0, length: 0, ids: [0; INLINE_IDS] };
const FIRST_SETS: usize = 1 << 10;
/// 2^17 sets of two entries: 8 MiB.
const MOST_SETS: usize = 1 << 17;
/// Budget for pieces that do not pack, in bytes.
const LONG_BUDGET: usize = 8 << 20;
/// Longer pieces hardly ever come twice.
const LONGEST_KEPT: usize = 128;

/// A cache of bounded size (16 MiB and a little), owned by one thread at a time.
#[derive(Debug)]
pub struct PieceCache {
    sets: Vec<[Entry; 2]>,
    inserted: usize,
    long: HashMap<Box<[u8]>, Box<[u32]>, FxBuildHasher>,
    long_bytes: usize,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self { sets: vec![[EMPTY; 2]; FIRST_SETS], inserted: 0, long: HashMap::default(), long_bytes: 0 }
    }
}

impl PieceCache {
    /// Appends the ids of a packed piece if they are known.
    #[inline]
    pub fn copy_packed(&self, piece: PackedPiece, out: &mut Vec<u32>) -> bool {
        let set = &self.sets[hash(piece) as usize & (self.sets.len() - 1)];
        for entry in set {
            if entry.piece == piece {
                match entry.length {
                    1 => out.push(entry.ids[0]), // nine in ten; a copy of unknown length would be a call
                    length => out.extend_from_slice(&entry.ids[..length as usize]),
                }
                return true;
            }
        }
        false
    }

    /// Keeps the ids of a packed piece, in place of the older of the two in its set.
    #[inline]
    pub fn keep_packed(&mut self, piece: PackedPiece, ids: &[u32]) -> bool {
        if ids.len() > INLINE_IDS {
            return false;
        }
        if self.inserted > self.sets.len() && self.sets.len() < MOST_SETS {
            self.grow();
        }
        let mut entry = Entry { piece, length: ids.len() as u32, ids: [0; INLINE_IDS] };
        entry.ids[..ids.len()].copy_from_slice(ids);
        self.insert(entry);
        true
    }

    fn insert(&mut self, entry: Entry) {
        let at = hash(entry.piece) as usize & (self.sets.len() - 1);
        let set = &mut self.sets[at];
        *set = [entry, set[0]];
        self.inserted += 1;
    }

    fn grow(&mut self) {
        let wider = vec![[EMPTY; 2]; self.sets.len() * 4];
        let old = std::mem::replace(&mut self.sets, wider);
        self.inserted = 0;
        for entry in old.iter().flat_map(|set| set.iter().rev()).filter(|entry| entry.length > 0) {
            self.insert(*entry);
        }
    }

    /// Appends the ids of a long piece if they are known.
    #[inline]
    pub fn copy_long(&self, piece: &[u8], out: &mut Vec<u32>) -> bool {
        match self.long.get(piece) {
            Some(ids) => {
                out.extend_from_slice(ids);
                true
            }
            None => false,
        }
    }

    /// Keeps the ids of a long piece; forgets all of them when the budget is used up.
    pub fn keep_long(&mut self, piece: &[u8], ids: &[u32]) {
        if piece.len() > LONGEST_KEPT {
            return;
        }
        let cost = piece.len() + 4 * ids.len() + 64;
        if self.long_bytes + cost > LONG_BUDGET {
            self.long.clear();
            self.long_bytes = 0;
        }
        self.long_bytes += cost;
        self.long.insert(piece.into(), ids.into());
    }
}
