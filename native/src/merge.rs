//! Merging one piece: the best-ranked adjacent pair first, the leftmost of equals.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    merge_runs::{merge_runs, runs_of},
    pair_table::{NO_RANK, PairTable},
};

/// Up to this many symbols, looking at all ranks for the best beats a heap; and one bit each says who is still there.
const FEW: usize = 64;

/// What merging needs besides the symbols: for few of them arrays; for many a linked list in arrays, and a heap.
#[derive(Debug)]
pub struct MergeScratch {
    few: [u32; FEW],
    few_ranks: [u32; FEW],
    symbols: Vec<u32>,
    ranks: Vec<u32>,
    previous: Vec<u32>,
    next: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Default for MergeScratch {
    fn default() -> Self {
        Self {
            few: [0; FEW],
            few_ranks: [NO_RANK; FEW],
            symbols: Vec::new(),
            ranks: Vec::new(),
            previous: Vec::new(),
            next: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }
}

const END: u32 = u32::MAX;
/// A symbol that was merged into its left neighbour.
const GONE: u32 = u32::MAX;

/// Calls `visit` with the symbols that are left of a piece.
#[inline]
pub fn merge_piece(
    symbols: impl ExactSizeIterator<Item = u32> + Clone,
    pairs: &PairTable,
    scratch: &mut MergeScratch,
    mut visit: impl FnMut(u32),
) {
    if symbols.len() <= FEW {
        let length = symbols.len();
        scratch.few.iter_mut().zip(symbols).for_each(|(place, symbol)| *place = symbol);
        let mut there = merge_few(&mut scratch.few, &mut scratch.few_ranks, length, pairs);
        while there != 0 {
            visit(scratch.few[there.trailing_zeros() as usize]);
            there &= there - 1;
        }
    } else if let Some(runs) = runs_of(symbols.clone()).and_then(|runs| merge_runs(runs, pairs)) {
        runs.iter().for_each(|run| (0..run.count).for_each(|_| visit(run.symbol)));
    } else {
        scratch.symbols.clear();
        scratch.symbols.extend(symbols);
        merge_by_heap(scratch, pairs);
        scratch.symbols.iter().filter(|symbol| **symbol != GONE).for_each(|symbol| visit(*symbol));
    }
}

/// Quadratic in the length, which `FEW` bounds. Returns which places still hold a symbol, a bit each.
fn merge_few(symbols: &mut [u32; FEW], ranks: &mut [u32; FEW], length: usize, pairs: &PairTable) -> u64 {
    if length == 0 {
        return 0;
    }
    for (at, pair) in symbols[..length].windows(2).enumerate() {
        ranks[at] = pairs.probable_rank(pair[0], pair[1]);
    }
    ranks[length - 1] = NO_RANK;
    let mut there = u64::MAX >> (FEW - length);
    loop {
        // Rank and place in one number: the smallest is the best rank, leftmost.
        let best = ranks[..length].iter().zip(0u64..).map(|(rank, at)| u64::from(*rank) << 32 | at).min().unwrap_or(u64::MAX);
        let rank = (best >> 32) as u32;
        if rank == NO_RANK {
            return there;
        }
        let at = best as usize % FEW;
        let after = |at: usize, there: u64| (there & (u64::MAX << at << 1)).trailing_zeros() as usize;
        let right = after(at, there) % FEW;
        let Some(made) = pairs.made_of(rank, symbols[at], symbols[right]) else {
            ranks[at] = pairs.rank(symbols[at], symbols[right]);
            continue;
        };
        symbols[at] = made;
        there &= !(1 << right);
        ranks[right] = NO_RANK;
        let (before, follower) = (there & ((1 << at) - 1), after(at, there));
        let left = FEW - 1 - (before | 1).leading_zeros() as usize;
        pairs.prefetch(symbols[left], made); // the two lookups wait for memory together
        ranks[at] = if follower < FEW { pairs.probable_rank(made, symbols[follower]) } else { NO_RANK };
        if before != 0 {
            ranks[left] = pairs.probable_rank(symbols[left], made);
        }
    }
}

/// n log n: a heap of (rank, place); an entry is stale when the pair at its place has another rank by now.
fn merge_by_heap(scratch: &mut MergeScratch, pairs: &PairTable) {
    let MergeScratch { symbols, ranks, previous, next, heap, .. } = scratch;
    let length = symbols.len() as u32; // pieces are shorter than 4 GiB: `Model::encode` checks
    ranks.clear();
    ranks.extend(symbols.windows(2).map(|pair| pairs.rank(pair[0], pair[1])));
    ranks.push(NO_RANK);
    previous.clear();
    previous.extend((0..length).map(|place| place.wrapping_sub(1)));
    next.clear();
    next.extend((1..length).chain([END]));
    heap.clear();
    heap.extend((0u32..).zip(ranks.iter()).filter(|(_, rank)| **rank != NO_RANK).map(|(place, rank)| Reverse((*rank, place))));

    while let Some(Reverse((rank, place))) = heap.pop() {
        let at = place as usize;
        if ranks[at] != rank || symbols[at] == GONE {
            continue;
        }
        let right = next[at] as usize;
        symbols[at] = pairs.made(rank);
        symbols[right] = GONE;
        next[at] = next[right];
        if next[at] != END {
            previous[next[at] as usize] = place;
        }
        let left = previous[at];
        for start in [left, place].into_iter().filter(|start| *start != END) {
            let (start, follower) = (start as usize, next[start as usize]);
            ranks[start] = if follower == END { NO_RANK } else { pairs.rank(symbols[start], symbols[follower as usize]) };
            if ranks[start] != NO_RANK {
                heap.push(Reverse((ranks[start], start as u32)));
            }
        }
    }
}
