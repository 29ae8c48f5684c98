//! Merging a piece that is mostly one symbol again and again (a line of dashes, a page of spaces): all equal neighbours of
//! a run merge at once, so a million of them take twenty steps. Exact, or given up.

use crate::pair_table::{NO_RANK, PairTable};

/// Which pairs merge, and into what.
pub trait Merges {
    /// The rank of a pair; `NO_RANK` where there is none.
    fn rank(&self, left: u32, right: u32) -> u32;
    /// The symbol that the merge of a rank makes.
    fn made(&self, rank: u32) -> u32;
}

impl Merges for PairTable {
    fn rank(&self, left: u32, right: u32) -> u32 {
        self.rank(left, right)
    }

    fn made(&self, rank: u32) -> u32 {
        self.made(rank)
    }
}

/// Pieces of more runs than this are merged otherwise: every step looks at all of them.
const MOST_RUNS: usize = 32;

/// Equal symbols side by side. Neighbouring runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The symbol.
    pub symbol: u32,
    /// How often it stands there.
    pub count: usize,
}

/// The runs of a piece; `None` if there are many.
pub fn runs_of(symbols: impl Iterator<Item = u32>) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for symbol in symbols {
        if let Some(last) = runs.last_mut().filter(|last| last.symbol == symbol) {
            last.count += 1;
        } else if runs.len() == MOST_RUNS {
            return None;
        } else {
            runs.push(Run { symbol, count: 1 });
        }
    }
    Some(runs)
}

/// Merges until no pair has a rank. `None` where merging a whole run at once might not be merging by rank, or where the
/// runs get too many.
pub fn merge_runs(mut runs: Vec<Run>, pairs: &impl Merges) -> Option<Vec<Run>> {
    while let Some((rank, at, inside)) = best_pair(&runs, pairs) {
        if runs.len() > 2 * MOST_RUNS {
            return None;
        }
        let made = pairs.made(rank);
        if inside {
            merge_inside(&mut runs, at, made, rank, pairs)?;
        } else {
            runs[at].count -= 1;
            runs[at + 1].count -= 1;
            runs.insert(at + 1, Run { symbol: made, count: 1 });
        }
        runs.retain(|run| run.count > 0);
        join_equal(&mut runs);
    }
    Some(runs)
}

/// The best rank, the leftmost run that has it, and whether both symbols of the pair are in that run.
fn best_pair(runs: &[Run], pairs: &impl Merges) -> Option<(u32, usize, bool)> {
    let inside = |at: usize| if runs[at].count > 1 { pairs.rank(runs[at].symbol, runs[at].symbol) } else { NO_RANK };
    let across = |at: usize| runs.get(at + 1).map_or(NO_RANK, |next| pairs.rank(runs[at].symbol, next.symbol));
    let ranks = (0..runs.len()).flat_map(|at| [(inside(at), at, true), (across(at), at, false)]);
    ranks.min_by_key(|&(rank, at, _)| (rank, at)).filter(|&(rank, ..)| rank != NO_RANK)
}

/// Merges the run's symbols two by two from the left. That is what merging by rank does unless a pair that comes about on
/// the way has a better rank (as in Llama 3's table, where some parts have worse ranks than the whole): then `None`.
fn merge_inside(runs: &mut Vec<Run>, at: usize, made: u32, rank: u32, pairs: &impl Merges) -> Option<()> {
    let Run { symbol, count } = runs[at];
    let before = at.checked_sub(1).and_then(|before| runs.get(before));
    let after = runs.get(at + 1);
    let comes_first = |left: u32, right: u32| pairs.rank(left, right) < rank;
    let disturbed = comes_first(made, symbol)
        || comes_first(made, made)
        || before.is_some_and(|before| comes_first(before.symbol, made))
        || after.is_some_and(|after| comes_first(made, after.symbol));
    if disturbed {
        return None;
    }
    runs[at] = Run { symbol: made, count: count / 2 };
    runs.insert(at + 1, Run { symbol, count: count % 2 });
    Some(())
}

fn join_equal(runs: &mut Vec<Run>) {
    runs.dedup_by(|next, run| {
        let equal = next.symbol == run.symbol;
        if equal {
            run.count += next.count;
        }
        equal
    });
}
