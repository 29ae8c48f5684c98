//! From a table of ranked tokens (tiktoken's format) to the merges that make them.

use rustc_hash::FxHashMap;

/// The merges of a rank table, and the tokens that no merging reaches.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// For each reachable token of more than one byte, in rank order: its rank, and where its bytes part.
    pub splits: Vec<(usize, usize)>,
    /// Ranks of the tokens that merging never makes.
    pub unreachable: Vec<usize>,
}

/// Runs each token's own bytes through the loop "merge the adjacent pair whose concatenation has the lowest rank, leftmost
/// first", over the whole table, and notes the last merge. That one pair is the only way the token can ever come about, so
/// the list of them in rank order gives the same ids as the table. (Limiting the loop to lower ranks than the token's own,
/// as is often done, is wrong for tables whose ranks do not grow with length.)
pub fn recover_merges(tokens: &[&[u8]]) -> Recovered {
    let rank_of: FxHashMap<&[u8], usize> = tokens.iter().enumerate().map(|(rank, token)| (*token, rank)).collect();
    let mut recovered = Recovered::default();
    let mut starts = Vec::new();
    for (rank, token) in tokens.iter().enumerate().filter(|(_, token)| token.len() > 1) {
        match last_split(token, &rank_of, &mut starts) {
            Some(split) => recovered.splits.push((rank, split)),
            None => recovered.unreachable.push(rank),
        }
    }
    recovered
}

/// Where the last merge joins the token; `None` if merging stops short of it.
fn last_split(token: &[u8], rank_of: &FxHashMap<&[u8], usize>, starts: &mut Vec<usize>) -> Option<usize> {
    starts.clear();
    starts.extend(0..=token.len());
    let joined = |starts: &[usize], at: usize| rank_of.get(&token[starts[at]..starts[at + 2]]).copied().unwrap_or(usize::MAX);
    let mut ranks: Vec<usize> = (0..token.len() - 1).map(|at| joined(starts, at)).collect();
    loop {
        let (at, rank) = ranks.iter().copied().enumerate().min_by_key(|&(at, rank)| (rank, at))?;
        if rank == usize::MAX {
            return None;
        }
        if ranks.len() == 1 {
            return Some(starts[1]);
        }
        starts.remove(at + 1);
        ranks.remove(at);
        if at < ranks.len() {
            ranks[at] = joined(starts, at);
        }
        if at > 0 {
            ranks[at - 1] = joined(starts, at - 1);
        }
    }
}
