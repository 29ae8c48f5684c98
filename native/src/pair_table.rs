//! (left symbol, right symbol) -> rank of their merge; rank -> the symbol it makes.

use crate::{error::EngineError, memory::Pages};

/// Rank of a pair that never merges.
pub const NO_RANK: u32 = u32::MAX;

/// Pairs of symbols below this are looked up in a square array. With the bytes as the first symbols that is every pair a
/// piece starts with: 256 KiB that stay near.
const SQUARE: u32 = 256;

/// A merge: what meets, and what comes of it.
#[derive(Debug, Clone, Copy)]
struct Merge {
    left: u32,
    right: u32,
    made: u32,
}

/// A slot holds a rank and, in the bits that ranks leave free, part of the pair's hash. Most pairs that are asked for do
/// not merge, and a slot of four bytes is enough to say so: for 100,000 merges the slots are 1 MiB, where pairs and ranks
/// would be 2 to 4 and not stay in the second-level cache.
#[derive(Debug)]
pub struct PairTable {
    square: Vec<u32>,
    slots: Pages<u32>,
    merges: Vec<Merge>,
    rank_bits: u32,
    shift: u32,
}

const EMPTY: u32 = u32::MAX;

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl PairTable {
    /// Builds the table from `((left, right), made)`, best rank first. Of a pair that comes twice, the first counts.
    pub fn new(merges: &[((u32, u32), u32)]) -> Result<Self, EngineError> {
        let capacity = (merges.len() * 2).next_power_of_two().max(16);
        let rank_bits = capacity.trailing_zeros(); // one rank more than there are merges, so that no slot looks empty
        if rank_bits >= u32::BITS {
            return Err(EngineError::TooManyMerges { limit: 1 << (u32::BITS - 2) });
        }
        let mut slots = Pages::zeroed(capacity).map_err(|error| EngineError::Memory(error.to_string()))?;
        slots.fill(EMPTY);
        let mut table = Self {
            square: vec![NO_RANK; (SQUARE * SQUARE) as usize],
            slots,
            merges: merges.iter().map(|&((left, right), made)| Merge { left, right, made }).collect(),
            rank_bits,
            shift: 64 - capacity.trailing_zeros(),
        };
        for (rank, &((left, right), _)) in (0u32..).zip(merges) {
            table.insert(left, right, rank);
        }
        Ok(table)
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

    /// The rank of a pair, or the free slot where it would go.
    #[inline]
    fn find(&self, left: u32, right: u32) -> Result<u32, usize> {
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
            if rank >> self.rank_bits == 0 {
                let merge = self.merges[rank as usize];
                if (merge.left, merge.right) == (left, right) {
                    return Ok(rank);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// The rank of a pair; `NO_RANK` where there is none.
    #[inline]
    pub fn rank(&self, left: u32, right: u32) -> u32 {
        if left < SQUARE && right < SQUARE {
            return self.square[(left * SQUARE + right) as usize];
        }
        self.find(left, right).unwrap_or(NO_RANK)
    }

    /// The symbol that a merge makes.
    #[inline]
    pub fn made(&self, rank: u32) -> u32 {
        self.merges[rank as usize].made
    }
}
