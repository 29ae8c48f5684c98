//! From a table of ranked tokens (tiktoken's format) to the merges that make them.

use crate::{
    merge::{MergeScratch, merge_piece},
    pair_table::{Merge, PairTable},
    spellings::{BYTES, Spellings},
};

/// The merges of tokens in rank order (after the bytes), and the tokens that no merging reaches.
///
/// Each token's own bytes go through the loop "merge the adjacent pair whose concatenation has the lowest rank, leftmost
/// first" over the whole table; the last pair is the only way the token can ever come about, so the list of them in rank
/// order gives the same ids as the table.
///
/// For nearly all tokens the pairs of better rank, which are known by then, lead to two symbols: then every choice on the
/// way was the whole table's choice too, as all others have worse ranks. Where they do not (a part of a worse rank than the
/// whole: Llama 3 has 81), the loop is run on bytes, over the whole table. Four times as fast as doing so for all.
pub fn recover(spellings: &Spellings) -> (PairTable, Vec<u32>) {
    let mut pairs = PairTable::with_room_for(spellings.len());
    let mut unreachable = Vec::new();
    let mut scratch = MergeScratch::default();
    for made in BYTES as u32..spellings.len() as u32 {
        let token = spellings.get(made);
        let (mut symbols, mut count) = ([0; 2], 0);
        merge_piece(token.iter().map(|byte| u32::from(*byte)), &pairs, &mut scratch, |symbol| {
            symbols[count.min(1)] = symbol;
            count += 1;
        });
        let found = if count == 2 { Some((symbols[0], symbols[1])) } else { last_pair(token, spellings) };
        match found {
            Some((left, right)) => pairs.push(Merge { left, right, made }),
            None => unreachable.push(made),
        }
    }
    (pairs, unreachable)
}

/// The last two symbols that merging over the whole table comes to; `None` if it stops short of that.
fn last_pair(token: &[u8], spellings: &Spellings) -> Option<(u32, u32)> {
    let starts = merge_by_spelling(token, spellings, 2);
    let symbol = |part: usize| spellings.find(&token[starts[part]..starts[part + 1]]);
    if starts.len() == 3 { symbol(0).zip(symbol(1)) } else { None }
}

/// Merges whichever neighbours spell the best-ranked token, until `fewest` parts are left or none do: how tiktoken merges.
/// Returns where the parts start, and where the last one ends. Needs no pairs, and takes ten times as long as merging by them.
pub fn merge_by_spelling(piece: &[u8], spellings: &Spellings, fewest: usize) -> Vec<usize> {
    let mut starts: Vec<usize> = (0..=piece.len()).collect();
    // Symbols after the bytes are in rank order, and what two parts spell is never a byte.
    let joined = |starts: &[usize], at: usize| spellings.find(&piece[starts[at]..starts[at + 2]]).unwrap_or(u32::MAX);
    let mut ranks: Vec<u32> = (0..piece.len().saturating_sub(1)).map(|at| joined(&starts, at)).collect();
    while starts.len() > fewest + 1 {
        let best = ranks.iter().copied().enumerate().min_by_key(|&(at, rank)| (rank, at));
        let Some((at, _)) = best.filter(|(_, rank)| *rank != u32::MAX) else { break };
        starts.remove(at + 1);
        ranks.remove(at);
        if at < ranks.len() {
            ranks[at] = joined(&starts, at);
        }
        if at > 0 {
            ranks[at - 1] = joined(&starts, at - 1);
        }
    }
    starts
}
