//! Merging one piece: the best-ranked adjacent pair first, the leftmost of equals.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::pair_table::{Merge, NO_RANK, PairTable};

/// Up to this many symbols, scanning for the best pair beats a heap: the ranks fit two cache lines.
const SCAN_LIMIT: usize = 48;

/// Symbols of a long piece: a doubly linked list in an array, and a heap of candidate merges.
#[derive(Debug, Default)]
pub struct MergeScratch {
    ids: Vec<u32>,
    merges: Vec<Merge>,
    previous: Vec<u32>,
    next: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

const END: u32 = u32::MAX;
/// Id of a symbol that was merged into its left neighbour.
const GONE: u32 = u32::MAX;

/// Appends the ids of a piece whose symbols start as `symbols`.
#[inline]
pub fn merge_piece(symbols: impl Iterator<Item = u32>, pairs: &PairTable, scratch: &mut MergeScratch, out: &mut Vec<u32>) {
    scratch.ids.clear();
    scratch.ids.extend(symbols);
    if scratch.ids.len() <= SCAN_LIMIT {
        merge_by_scanning(scratch, pairs);
    } else {
        merge_by_heap(scratch, pairs);
    }
    out.extend(scratch.ids.iter().filter(|id| **id != GONE));
}

/// Quadratic in the length, which `SCAN_LIMIT` bounds.
fn merge_by_scanning(scratch: &mut MergeScratch, pairs: &PairTable) {
    let MergeScratch { ids, merges, .. } = scratch;
    merges.clear();
    merges.extend(ids.windows(2).map(|pair| pairs.get(pair[0], pair[1])));
    loop {
        let mut best = Merge { rank: NO_RANK, id: 0 };
        let mut at = 0;
        for (place, merge) in merges.iter().enumerate() {
            if merge.rank < best.rank {
                (best, at) = (*merge, place);
            }
        }
        if best.rank == NO_RANK {
            return;
        }
        ids[at] = best.id;
        ids.remove(at + 1);
        merges.remove(at);
        if at < merges.len() {
            merges[at] = pairs.get(ids[at], ids[at + 1]);
        }
        if at > 0 {
            merges[at - 1] = pairs.get(ids[at - 1], ids[at]);
        }
    }
}

/// n log n: a heap of (rank, place); an entry is stale when the pair at its place has another rank by now.
fn merge_by_heap(scratch: &mut MergeScratch, pairs: &PairTable) {
    let MergeScratch { ids, merges, previous, next, heap } = scratch;
    let length = ids.len() as u32; // pieces are shorter than 4 GiB: `Model::encode` checks
    merges.clear();
    merges.extend(ids.windows(2).map(|pair| pairs.get(pair[0], pair[1])));
    merges.push(Merge { rank: NO_RANK, id: 0 });
    previous.clear();
    previous.extend((0..length).map(|place| place.wrapping_sub(1)));
    next.clear();
    next.extend((1..length).chain([END]));
    heap.clear();
    heap.extend((0u32..).zip(merges.iter()).filter(|(_, merge)| merge.rank != NO_RANK).map(|(place, merge)| Reverse((merge.rank, place))));

    while let Some(Reverse((rank, place))) = heap.pop() {
        let at = place as usize;
        if merges[at].rank != rank || ids[at] == GONE {
            continue;
        }
        let right = next[at] as usize;
        ids[at] = merges[at].id;
        ids[right] = GONE;
        next[at] = next[right];
        if next[at] != END {
            previous[next[at] as usize] = place;
        }
        let left = previous[at];
        for start in [left, place].into_iter().filter(|start| *start != END) {
            let (start, follower) = (start as usize, next[start as usize]);
            let merge = if follower == END { Merge { rank: NO_RANK, id: 0 } } else { pairs.get(ids[start], ids[follower as usize]) };
            merges[start] = merge;
            if merge.rank != NO_RANK {
                heap.push(Reverse((merge.rank, start as u32)));
            }
        }
    }
}
