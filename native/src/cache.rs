//! Pieces already merged, so that a word is merged once and copied from then on. Bounded, and owned by one thread at a time.
//!
//! Three stores: pieces of up to 15 bytes, up to 30, and up to 256. The first two are tables whose entries hold piece and ids
//! side by side, half a cache line or a whole one: a lookup is one memory access and one comparison of numbers.

use std::io;

use bytemuck::{Pod, Zeroable};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::memory::{Pages, prefetch};

/// A piece of up to 15 bytes and its length in one number: equality is one comparison. Zero is no piece.
pub type PackedPiece = u128;

/// Longest piece that packs.
pub const PACKED_BYTES: usize = 15;

/// Masks for the first n of 16 bytes: loading one beats shifting 128 bits.
const FIRST_BYTES: [u128; 16] = {
    let mut masks = [0; 16];
    let mut count = 1;
    while count < 16 {
        masks[count] = u128::MAX >> (128 - 8 * count);
        count += 1;
    }
    masks
};

/// Packs `text[start..end]`; `None` if it is longer than 15 bytes.
#[inline]
pub fn pack(text: &[u8], start: usize, end: usize) -> Option<PackedPiece> {
    let length = end - start;
    let mask = FIRST_BYTES.get(length)?;
    let window_at = |start: usize| text.get(start..start + 16).and_then(|window| window.try_into().ok()).map(u128::from_le_bytes);
    let bytes = if let Some(window) = window_at(start) {
        window & mask
    } else if let Some(window) = end.checked_sub(16).and_then(window_at).filter(|_| length > 0) {
        window >> (8 * (16 - length)) // at the end of the text
    } else {
        let mut window = [0; 16];
        window[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(window)
    };
    Some(bytes | (length as u128) << 120)
}

/// Marks a packed piece as part of a longer one, so that the two never answer for each other.
#[inline]
pub fn as_part(packed: PackedPiece) -> PackedPiece {
    packed | 1 << 127
}

/// Whether it was marked as part of a longer one.
#[inline]
pub fn is_part(packed: PackedPiece) -> bool {
    packed >> 127 != 0
}

/// In place of a packed piece, says that it is longer; never in a cache.
pub const LONG: PackedPiece = 16 << 120;

/// The bytes of a packed piece.
pub fn unpack(packed: PackedPiece) -> Vec<u8> {
    packed.to_le_bytes()[..(packed >> 120) as usize].to_vec()
}

/// What a table is looked up by: one or two packed pieces.
pub type Key<const KEYS: usize> = [PackedPiece; KEYS];

/// Spreads a packed piece over 64 bits, the low ones above all: its two halves multiplied, and folded.
#[inline]
pub fn hash(packed: PackedPiece) -> u64 {
    let product = u128::from(packed as u64 ^ 0x9E37_79B9_7F4A_7C15) * u128::from((packed >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93);
    product as u64 ^ (product >> 64) as u64
}

/// A piece and its ids: one number for every 15 bytes, and a number of four ids for each, the last of which is how many of
/// the others there are. If that is more than there is room for, the first says where they stand.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Entry<const KEYS: usize> {
    key: Key<KEYS>,
    ids: [[u32; 4]; KEYS],
}

// SAFETY: arrays of integers whose sizes are multiples of their alignments: no padding, and any bits are a value.
unsafe impl<const KEYS: usize> Zeroable for Entry<KEYS> {}
// SAFETY: as above; and it is `Copy` and `'static`.
unsafe impl<const KEYS: usize> Pod for Entry<KEYS> {}

impl<const KEYS: usize> Entry<KEYS> {
    /// Most ids an entry holds.
    pub const IDS: usize = 4 * KEYS - 1;

    /// The places for ids, used or not (and one more), and how many are used.
    #[inline]
    pub fn padded(&self) -> (&[u32], usize) {
        let ids = self.ids.as_flattened();
        (ids, ids[Self::IDS] as usize)
    }

    /// The ids, wherever they are.
    #[inline]
    fn used<'c>(&'c self, spilled: &'c [u32]) -> &'c [u32] {
        let (ids, length) = self.padded();
        let (ids, start) = if length <= Self::IDS { (ids, 0) } else { (spilled, ids[0] as usize) };
        ids.get(start..start + length).unwrap_or(&[])
    }
}

/// A table in which the older entry of a set of two makes way for a new one. Grows with use, up to a bound.
#[derive(Debug)]
pub struct Table<const KEYS: usize> {
    entries: Pages<Entry<KEYS>>,
    inserted: usize,
    most: usize,
}

impl<const KEYS: usize> Table<KEYS> {
    /// Grows to `most` entries, a power of two times `FIRST_ENTRIES`.
    fn new(most: usize) -> io::Result<Self> {
        Ok(Self { entries: Pages::zeroed(FIRST_ENTRIES)?, inserted: 0, most })
    }

    /// Where a key belongs, as long as the table does not grow: the first entry of its set.
    #[inline]
    pub fn place(&self, key: Key<KEYS>) -> usize {
        let hash = key.iter().fold(0, |folded: u64, packed| folded.rotate_left(29) ^ hash(*packed));
        hash as usize & (self.entries.len() - 1) & !1
    }

    /// Asks the processor to have a place at hand soon.
    #[inline]
    pub fn prefetch(&self, place: usize) {
        prefetch(&self.entries, place);
    }

    /// The entry of a key at its place. No branch decides between the two, as it would be mispredicted half the time.
    #[inline]
    pub fn get(&self, place: usize, key: Key<KEYS>) -> Option<&Entry<KEYS>> {
        let set = self.entries.get(place..place + 2)?;
        let entry = &set[usize::from(set[1].key == key)];
        (entry.key == key).then_some(entry)
    }

    /// Keeps ids under a key.
    fn keep(&mut self, key: Key<KEYS>, ids: &[u32], spilled: &mut Vec<u32>) {
        let mut entry = Entry { key, ids: [[0; 4]; KEYS] };
        let places = entry.ids.as_flattened_mut();
        if ids.len() <= Entry::<KEYS>::IDS {
            places[..ids.len()].copy_from_slice(ids);
        } else {
            places[0] = spilled.len() as u32;
            spilled.extend_from_slice(ids);
        }
        places[Entry::<KEYS>::IDS] = ids.len() as u32;
        self.insert(entry);
    }

    /// A set and those where what does not fit goes while there is room. Of 90,000 words in a table for 260,000, one in seven
    /// shares its set with two others, and would be merged again and again.
    fn sets(place: usize) -> [usize; 4] {
        [place, place ^ 2, place ^ 4, place ^ 6]
    }

    fn insert(&mut self, entry: Entry<KEYS>) {
        let place = self.place(entry.key);
        let is_free = |place: usize| self.entries[place].key == [0; KEYS];
        let free = Self::sets(place).into_iter().flat_map(|set| [set, set + 1]).find(|place| is_free(*place));
        let chosen = free.unwrap_or_else(|| {
            self.entries[place + 1] = self.entries[place];
            place
        });
        self.entries[chosen] = entry;
        self.inserted += 1;
    }

    /// The entry of a key, wherever it went: not beyond a set with room.
    fn find(&self, key: Key<KEYS>) -> Option<&Entry<KEYS>> {
        for set in Self::sets(self.place(key)) {
            let found = self.get(set, key);
            if found.is_some() || self.entries[set + 1].key == [0; KEYS] {
                return found;
            }
        }
        None
    }

    /// Makes room if a quarter of the entries are taken: a fuller table has more pieces beside their set. Places change.
    fn grow(&mut self) {
        if 4 * self.inserted <= self.entries.len() || self.entries.len() >= self.most {
            return;
        }
        let Ok(wider) = Pages::zeroed((self.entries.len() * 4).min(self.most)) else {
            self.most = self.entries.len(); // no memory for more: the older entries make way
            return;
        };
        let old = std::mem::replace(&mut self.entries, wider);
        self.inserted = 0;
        for set in old.chunks_exact(2) {
            set.iter().filter(|entry| entry.key != [0; KEYS]).for_each(|entry| self.insert(*entry));
        }
    }

    fn clear(&mut self) {
        self.entries.fill(Entry { key: [0; KEYS], ids: [[0; 4]; KEYS] });
        self.inserted = 0;
    }

    fn bytes(&self) -> usize {
        size_of_val::<[Entry<KEYS>]>(&self.entries)
    }
}

const FIRST_ENTRIES: usize = 1 << 10;
/// Of 32 bytes: 16 MiB.
const MOST_SHORT: usize = 1 << 19;
/// Of 64 bytes: 4 MiB.
const MOST_MEDIUM: usize = 1 << 16;
/// Ids that do not fit their entries: 4 MiB.
const MOST_SPILLED: usize = 1 << 20;
/// Budget for the other pieces, in bytes.
const LONG_BUDGET: usize = 4 << 20;
/// Longest piece kept.
const LONGEST_KEPT: usize = 256;

/// A cache of bounded size, 28 MiB and a little.
#[derive(Debug)]
pub struct PieceCache {
    /// Pieces that pack: nearly all.
    pub short: Table<1>,
    medium: Table<2>,
    spilled: Vec<u32>,
    long: HashMap<Box<[u8]>, Box<[u32]>, FxBuildHasher>,
    long_bytes: usize,
    /// Pieces looked up so far.
    pub lookups: u64,
    /// Pieces and parts of pieces that had to be merged.
    pub misses: u64,
}

/// Which store a piece belongs to. A part of a longer piece is kept apart from the same bytes as a piece.
#[derive(Debug, Clone, Copy)]
pub enum Slot<'p> {
    /// Up to 15 bytes.
    Short(PackedPiece),
    /// Up to 30 bytes.
    Medium(Key<2>),
    /// More.
    Long(&'p [u8]),
    /// None: it hardly ever comes twice.
    NotKept,
}

impl<'p> Slot<'p> {
    /// The store of `text[start..end]`.
    #[inline]
    pub fn of(text: &'p [u8], start: usize, end: usize) -> Self {
        if let Some(packed) = pack(text, start, end) {
            return Self::Short(packed);
        }
        let middle = (start + PACKED_BYTES).min(end);
        match (pack(text, start, middle), pack(text, middle, end)) {
            (Some(first), Some(second)) => Self::Medium([first, second]),
            _ if end - start <= LONGEST_KEPT => Self::Long(&text[start..end]),
            _ => Self::NotKept,
        }
    }

    /// The same bytes as part of a longer piece.
    pub fn as_part(self) -> Self {
        match self {
            Self::Short(packed) => Self::Short(as_part(packed)),
            Self::Medium([first, second]) => Self::Medium([as_part(first), second]),
            Self::Long(_) | Self::NotKept => Self::NotKept,
        }
    }
}

impl PieceCache {
    /// An empty cache.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            short: Table::new(MOST_SHORT)?,
            medium: Table::new(MOST_MEDIUM)?,
            spilled: Vec::new(),
            long: HashMap::default(),
            long_bytes: 0,
            lookups: 0,
            misses: 0,
        })
    }

    /// Appends the ids of a piece if they are known.
    #[inline]
    pub fn copy(&self, slot: Slot<'_>, out: &mut Vec<u32>) -> bool {
        let known = match slot {
            Slot::Short(packed) => self.short.find([packed]).map(|entry| entry.used(&self.spilled)),
            Slot::Medium(packed) => self.medium.find(packed).map(|entry| entry.used(&self.spilled)),
            Slot::Long(piece) => self.long.get(piece).map(AsRef::as_ref),
            Slot::NotKept => None,
        };
        known.is_some_and(|ids| {
            out.extend_from_slice(ids);
            true
        })
    }

    /// Keeps the ids of a piece that was not known.
    pub fn keep(&mut self, slot: Slot<'_>, ids: &[u32]) {
        self.misses += 1;
        match slot {
            Slot::Short(packed) => self.short.keep([packed], ids, &mut self.spilled),
            Slot::Medium(packed) => self.medium.keep(packed, ids, &mut self.spilled),
            Slot::Long(piece) => self.keep_long(piece, ids),
            Slot::NotKept => {}
        }
    }

    /// Forgets all long pieces when their budget is used up.
    fn keep_long(&mut self, piece: &[u8], ids: &[u32]) {
        let cost = piece.len() + 4 * ids.len() + 64;
        if self.long_bytes + cost > LONG_BUDGET {
            self.long.clear();
            self.long_bytes = 0;
        }
        self.long_bytes += cost;
        self.long.insert(piece.into(), ids.into());
    }

    /// Grows what is filling up; starts anew when more has spilled than is allowed. Places change.
    #[inline]
    pub fn grow(&mut self) {
        self.short.grow();
        self.medium.grow();
        if self.spilled.len() > MOST_SPILLED {
            self.spilled.clear();
            self.short.clear();
            self.medium.clear();
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.medium.bytes() + 4 * self.spilled.capacity() + self.long_bytes
    }
}
