//! Merging the most frequent pair again and again, touching only the places where it occurs.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashMap;

use super::{rules::TokenBytes, words::WordsView};
use crate::error::EngineError;

type Pair = (u32, u32);

/// Which of equally frequent pairs is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The one with the lowest ids, left id first: the order of the words does not matter.
    LowestIds,
    /// The one that stands first in the words as they are by then, as in minbpe.
    FirstSeen,
}

/// What bounds the vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Merges wanted.
    pub merges: usize,
    /// Pairs seen less often are not merged.
    pub min_frequency: i64,
    /// Longest token in bytes.
    pub max_token_length: usize,
}

/// One symbol of the corpus: a byte or what it was merged into. Words are separated by a `BORDER`.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    id: u32,
    previous: u32,
    next: u32,
    word: u32,
}

/// Id of what stands between words; it is in no pair.
const BORDER: u32 = u32::MAX;

/// How often a pair occurs, and where (left symbol, ascending; places it has since left are skipped when visited).
#[derive(Debug, Default)]
struct Occurrences {
    count: i64,
    places: Vec<u32>,
}

impl Ties {
    /// What orders pairs of one count, lowest first.
    fn key(self, pair: Pair, seen: &Occurrences, symbols: &[Symbol]) -> u64 {
        match self {
            Self::LowestIds => u64::from(pair.0) << 32 | u64::from(pair.1),
            Self::FirstSeen => {
                seen.places.iter().find(|place| pair_at(**place, symbols) == pair).map_or(u64::MAX, |place| u64::from(*place))
            }
        }
    }
}

/// The symbol at a place and the one after it; one of them a border where there are no two.
fn pair_at(place: u32, symbols: &[Symbol]) -> Pair {
    let left = symbols[place as usize];
    (left.id, symbols[left.next as usize % symbols.len()].id)
}

/// Learns merges from counted words. Ids 0..=255 are the bytes, the n-th merge makes id 256 + n. Each step merges the most
/// frequent pair; of equally frequent ones the one that `ties` says.
///
/// A pair can only come about in the step that makes the younger of its two ids. So after that step its count can only
/// fall, and one entry in the heap is enough: an entry whose count is out of date is put back with the right one. Where the
/// count is right, no occurrence was lost, so the first is where it was.
///
/// `start` are merges that are done first, in order, however rare. `forbids` is asked for the tokens of a pair before it is merged for
/// the first time, not for each pair that occurs: of those it forbids, none comes up again.
///
/// `progress` is called with the merges done so far and stops the training by returning false.
pub fn learn_merges(
    words: WordsView<'_>,
    limits: Limits,
    ties: Ties,
    start: &[Pair],
    mut forbids: impl FnMut(&[u8], &[u8]) -> Result<bool, EngineError>,
    mut progress: impl FnMut(usize) -> bool,
) -> Result<Vec<Pair>, EngineError> {
    let mut symbols = lay_out(words)?;
    let mut pairs = first_pairs(&symbols, words);
    let mut tokens = TokenBytes::default();
    let mut merges = Vec::new();
    for &pair in start {
        tokens.push(pair)?;
        let new_id = 256 + merges.len() as u32;
        merges.push(pair);
        let places = pairs.remove(&pair).unwrap_or_default().places;
        merge_everywhere(pair, new_id, &places, &mut symbols, words, &mut pairs);
    }
    let mut heap: BinaryHeap<(i64, Reverse<u64>, Pair)> = BinaryHeap::new();
    let fits = |pair: Pair, tokens: &TokenBytes| tokens.length(pair) <= limits.max_token_length;
    heap.extend(
        pairs
            .iter()
            .filter(|(pair, seen)| seen.count > 0 && fits(**pair, &tokens))
            .map(|(pair, seen)| (seen.count, Reverse(ties.key(*pair, seen, &symbols)), *pair)),
    );

    while merges.len() < limits.merges {
        let Some((count, _, pair)) = heap.pop() else { break };
        let Some(seen) = pairs.get(&pair) else { continue };
        let now = seen.count;
        if now < limits.min_frequency.max(1) {
            continue;
        }
        if now < count {
            heap.push((now, Reverse(ties.key(pair, seen, &symbols)), pair));
            continue;
        }
        if forbids(tokens.of(pair.0), tokens.of(pair.1))? {
            continue;
        }
        let new_id = 256 + merges.len() as u32;
        tokens.push(pair)?;
        merges.push(pair);
        let places = pairs.remove(&pair).unwrap_or_default().places;
        let made = merge_everywhere(pair, new_id, &places, &mut symbols, words, &mut pairs);
        heap.extend(
            made.into_iter()
                .filter(|pair| fits(*pair, &tokens))
                .filter_map(|pair| pairs.get(&pair).map(|seen| (seen.count, Reverse(ties.key(pair, seen, &symbols)), pair))),
        );
        if merges.len() % 64 == 0 && !progress(merges.len()) {
            return Err(EngineError::Interrupted);
        }
    }
    Ok(merges)
}

/// All words one after the other, each followed by a border.
fn lay_out(words: WordsView<'_>) -> Result<Vec<Symbol>, EngineError> {
    let limit = (u32::MAX - 1) as usize;
    let total: usize = words.iter().map(|(word, _)| word.len() + 1).sum::<usize>() + 1;
    if total > limit {
        return Err(EngineError::TooManySymbols { limit });
    }
    let mut symbols = Vec::with_capacity(total);
    let mut push = |id: u32, word: u32| {
        let place = symbols.len() as u32;
        symbols.push(Symbol { id, previous: place.wrapping_sub(1), next: place + 1, word });
    };
    push(BORDER, 0);
    for (number, (word, _)) in (0u32..).zip(words.iter()) {
        word.iter().for_each(|byte| push(u32::from(*byte), number));
        push(BORDER, number);
    }
    Ok(symbols)
}

fn first_pairs(symbols: &[Symbol], words: WordsView<'_>) -> FxHashMap<Pair, Occurrences> {
    let mut pairs: FxHashMap<Pair, Occurrences> = FxHashMap::default();
    for (place, both) in (0u32..).zip(symbols.windows(2)) {
        if both[0].id != BORDER && both[1].id != BORDER {
            let seen = pairs.entry((both[0].id, both[1].id)).or_default();
            seen.count += words.count(both[0].word as usize);
            seen.places.push(place);
        }
    }
    pairs
}

/// Merges one pair wherever it stands, left to right, and keeps the neighbours' counts right. Returns the new pairs.
fn merge_everywhere(
    pair: Pair,
    new_id: u32,
    places: &[u32],
    symbols: &mut [Symbol],
    words: WordsView<'_>,
    pairs: &mut FxHashMap<Pair, Occurrences>,
) -> Vec<Pair> {
    let mut made: FxHashMap<Pair, Occurrences> = FxHashMap::default();
    for &place in places {
        let left = symbols[place as usize];
        let right = symbols[left.next as usize % symbols.len()];
        if (left.id, right.id) != pair {
            continue;
        }
        let count = words.count(left.word as usize);
        let before = symbols[left.previous as usize].id;
        let after = symbols[right.next as usize].id;
        // The old pair itself left the table before this call; in runs such as "aaa" it is its own neighbour.
        let mut lost = |lost: Pair| {
            if let Some(seen) = pairs.get_mut(&lost).or_else(|| made.get_mut(&lost)) {
                seen.count -= count;
            }
        };
        if before != BORDER {
            lost((before, left.id));
        }
        if after != BORDER {
            lost((right.id, after));
        }
        let mut gained = |gained: Pair, place: u32| {
            let seen = made.entry(gained).or_default();
            seen.count += count;
            seen.places.push(place);
        };
        if before != BORDER {
            gained((before, new_id), left.previous);
        }
        if after != BORDER {
            gained((new_id, after), place);
        }
        symbols[place as usize].id = new_id;
        symbols[place as usize].next = right.next;
        symbols[right.next as usize].previous = place;
        symbols[left.next as usize].id = BORDER; // swallowed: no stale place may read it as a symbol
    }
    made.retain(|_, seen| seen.count > 0);
    let new_pairs = made.keys().copied().collect();
    pairs.extend(made);
    new_pairs
}
