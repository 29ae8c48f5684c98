//! (left symbol, right symbol) -> rank of their merge; rank -> the symbol it makes.

use crate::memory::prefetch;

/// Rank of a pair that never merges.
pub const NO_RANK: u32 = u32::MAX;

/// Pairs of symbols below this are looked up in a square array. With the bytes as the first symbols that is every pair a
/// piece starts with: 256 KiB that stay near.
const SQUARE: u32 = 256;

/// A merge of symbols: what meets, and what comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The left symbol.
    pub left: u32,
    /// The right one.
    pub right: u32,
    /// What takes their place.
    pub made: u32,
}

/// A slot holds a rank and, in the bits that ranks leave free, part of the pair's hash. Most pairs that are asked for do
/// not merge, and a slot of four bytes is enough to say so: for 100,000 merges the slots are 1 MiB, where pairs and ranks
/// would be 2 to 4 and not stay in the second-level cache.
#[derive(Debug)]
pub struct PairTable {
    square: Vec<u32>,
    slots: Vec<u32>,
    merges: Vec<Merge>,
    rank_bits: u32,
    shift: u32,
    /// Whether merge n makes symbol `SQUARE` + n, as in any rank table whose tokens merging all reaches.
    makes_in_order: bool,
}

const EMPTY: u32 = u32::MAX;

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl PairTable {
    /// Most merges that a table numbers.
    pub const MOST: usize = 1 << (u32::BITS - 3);

    /// An empty table with room for `most` merges, which are no more than `MOST`.
    pub fn with_room_for(most: usize) -> Self {
        let capacity = (most * 2).next_power_of_two().max(16);
        let rank_bits = capacity.trailing_zeros(); // twice as many ranks as there are merges, so that no slot looks empty
        let (square, slots) = (vec![NO_RANK; (SQUARE * SQUARE) as usize], vec![EMPTY; capacity]);
        Self { square, slots, merges: Vec::with_capacity(most), rank_bits, shift: 64 - rank_bits, makes_in_order: true }
    }

    /// Builds the table from merges, best rank first.
    pub fn new(merges: &[Merge]) -> Self {
        let mut table = Self::with_room_for(merges.len());
        merges.iter().for_each(|merge| table.push(*merge));
        table
    }

    /// Adds a merge of the next rank; no more than the table was made for. Of a pair that comes twice, the first counts.
    pub fn push(&mut self, merge: Merge) {
        let rank = self.merges.len() as u32;
        self.merges.push(merge);
        self.makes_in_order &= merge.made == SQUARE + rank;
        self.insert(merge.left, merge.right, rank);
    }

    /// All merges, best rank first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    fn insert(&mut self, left: u32, right: u32, rank: u32) {
        if left < SQUARE && right < SQUARE {
            let known = &mut self.square[(left * SQUARE + right) as usize];
            *known = rank.min(*known);
        } else if let Err(free) = self.find(left, right) {
            self.slots[free] = self.tag(hash(left, right)) | rank;
        }
    }

    /// Bits of the hash, other than those that choose the slot, above the place of a rank.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        ((hash >> 32) as u32) << self.rank_bits
    }

    /// The rank of the first slot on the pair's way that `is_it` takes, or the free slot where the way ends.
    #[inline]
    fn probe(&self, left: u32, right: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let hash = hash(left, right);
        let tag = self.tag(hash);
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return Err(at);
            }
            let rank = slot ^ tag;
            if rank >> self.rank_bits == 0 && is_it(rank) {
                return Ok(rank);
            }
            at = (at + 1) & mask;
        }
    }

    /// The rank of a pair, or the free slot where it would go.
    #[inline]
    fn find(&self, left: u32, right: u32) -> Result<u32, usize> {
        self.probe(left, right, |rank| self.made_of(rank, left, right).is_some())
    }

    /// The rank of a pair; `NO_RANK` where there is none.
    #[inline]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        if left < SQUARE && right < SQUARE {
            return self.square[(left * SQUARE + right) as usize];
        }
        self.find(left, right).unwrap_or(NO_RANK)
    }

    /// The rank of a pair, or, once in thousands, that of another: `made` tells. It looks at no merge, only at a slot, and
    /// so misses the cache once where `rank` misses it twice. Most pairs of a piece never get to merge.
    #[inline]
    pub fn probable_rank(&self, left: u32, right: u32) -> u32 {
        if left < SQUARE && right < SQUARE {
            return self.square[(left * SQUARE + right) as usize];
        }
        self.probe(left, right, |_| true).unwrap_or(NO_RANK)
    }

    /// Asks for what `probable_rank` will look at.
    #[inline]
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, (hash(left, right) >> self.shift) as usize);
    }

    /// What a pair of this rank makes; `None` if the rank is another pair's.
    #[inline]
    pub fn made_of(&self, rank: u32, left: u32, right: u32) -> Option<u32> {
        let merge = self.merges[rank as usize];
        // Known without waiting for the merge, which then only confirms what the processor went on with.
        let made = if self.makes_in_order { SQUARE + rank } else { merge.made };
        ((merge.left, merge.right) == (left, right)).then_some(made)
    }

    /// The symbol that a merge makes.
    #[inline]
    pub fn made(&self, rank: u32) -> u32 {
        self.merges[rank as usize].made
    }
}
