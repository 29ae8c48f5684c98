//! (left id, right id) -> (rank, merged id).

/// Rank of a pair that never merges.
pub const NO_RANK: u32 = u32::MAX;

/// A merge: how early it comes, and what it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// Position in the list of merges; `NO_RANK` for a pair that is not in it.
    pub rank: u32,
    /// Id of the merged token.
    pub id: u32,
}

const NO_MERGE: Merge = Merge { rank: NO_RANK, id: 0 };

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u64,
    merge: Merge,
}

/// Open addressing at half load at most: a lookup is one multiplication and mostly one cache line.
#[derive(Debug, Clone)]
pub struct PairTable {
    slots: Vec<Slot>,
    shift: u32,
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl PairTable {
    /// Builds the table from `((left, right), merged)`, best rank first.
    pub fn new(merges: &[((u32, u32), u32)]) -> Self {
        let capacity = (merges.len() * 2).next_power_of_two().max(16);
        let empty = Slot { key: 0, merge: NO_MERGE };
        let mut table = Self { slots: vec![empty; capacity], shift: 64 - capacity.trailing_zeros() };
        for (rank, &((left, right), id)) in (0u32..).zip(merges) {
            let place = table.place(key(left, right));
            table.slots[place] = Slot { key: key(left, right), merge: Merge { rank, id } };
        }
        table
    }

    /// The slot that holds the key, or the empty one where it would go.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        while self.slots[at].merge.rank != NO_RANK && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    /// The merge of a pair; rank `NO_RANK` where there is none.
    #[inline]
    pub fn get(&self, left: u32, right: u32) -> Merge {
        self.slots[self.place(key(left, right))].merge
    }
}
