//! Merging the most frequent pair again and again, touching only the places where it occurs.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::FxHashSet;

use super::{
    pairs::{Pairs, Seen},
    rules::TokenBytes,
    symbols::{BORDER, Pair, Symbols},
    words::WordsView,
};
use crate::error::EngineError;

/// Which of equally frequent pairs is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The one with the lowest ids, left id first: the order of the words does not matter.
    LowestIds,
    /// The same, bytes in the order of the characters that stand for them in GPT-2's vocabulary files, as in `tokenizers`.
    LowestCharacters,
    /// The one that stands first in the words as they are by then, as in minbpe.
    FirstSeen,
}

/// What bounds the vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Merges wanted, given ones included.
    pub merges: usize,
    /// Pairs seen less often are not merged.
    pub min_frequency: i64,
    /// Longest token in bytes.
    pub max_token_length: usize,
}

/// How much more often the most frequent pair occurs than the rarest that is kept at hand beside it, at most. With 64, the pairs of
/// 45 MB are counted three times for 32,000 merges, with 1024 twice; with 16384, the lists of the first time outgrow their room.
const SPAN: i64 = 1024;
/// The same for the pairs that are counted when none of those is left: there are more of them, and lists of all would take much room.
const LATER_SPAN: i64 = 64;
/// Merges between two calls of `progress`.
const REPORTED: usize = 64;
/// How far ahead of the merging its memory is called for.
const AHEAD: usize = 24;

/// Learns merges from counted words. Ids 0..=255 are the bytes, the n-th merge makes id 256 + n. Each step merges the most
/// frequent pair; of equally frequent ones the one that `ties` says.
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
    let mut tokens = TokenBytes::default();
    let mut learner = Learner::new(words, ties)?;
    let mut merges = Vec::new();
    let mut merge = |pair: Pair, tokens: &mut TokenBytes, learner: &mut Learner| {
        tokens.push(pair)?;
        learner.merge(pair, 256 + merges.len() as u32)?;
        merges.push(pair);
        if merges.len() % REPORTED == 0 && !progress(merges.len()) { Err(EngineError::Interrupted) } else { Ok(merges.len()) }
    };
    let mut done = 0;
    if !start.is_empty() {
        learner.count(|_| 1)?;
    }
    for &pair in start {
        done = merge(pair, &mut tokens, &mut learner)?;
    }
    let least = limits.min_frequency.max(1);
    learner.count(|counts| (counts.iter().max().copied().unwrap_or(0) / SPAN).max(least))?;
    let mut forbidden = FxHashSet::default();
    while done < limits.merges {
        let Some(pair) = learner.most_frequent() else {
            if learner.floor == least {
                break;
            }
            let before = learner.floor;
            let wanted = (limits.merges - done) * 5 / 4 + 1000; // a pair at hand makes about one merge
            learner.count(|counts| nth_largest(counts, wanted).clamp(before / LATER_SPAN, before / 4).max(least))?;
            continue;
        };
        if forbidden.contains(&pair) {
            continue;
        }
        if tokens.length(pair) > limits.max_token_length || forbids(tokens.of(pair.0), tokens.of(pair.1))? {
            forbidden.insert(pair);
            continue;
        }
        done = merge(pair, &mut tokens, &mut learner)?;
    }
    Ok(merges)
}

/// The n-th largest of some numbers, which are left in another order; 0 where there are fewer.
fn nth_largest(numbers: &mut [i64], n: usize) -> i64 {
    if n < numbers.len() { *numbers.select_nth_unstable_by_key(n, |number| Reverse(*number)).1 } else { 0 }
}

/// One number by which pairs are in the order of their left and then their right ids.
fn in_order(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// GPT-2's vocabulary files write a byte as the character of its number, where that can be seen, and the others as characters that
/// come after all of those. This numbers bytes in the order of their characters.
fn character_order(id: u32) -> u32 {
    match id {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => id,
        ..=0x20 | 0x7F..=0xA0 | 0xAD => id + 0x100,
        _ => id + 0x200,
    }
}

/// A pair that may be merged, and its count when it was put in the heap; equally frequent ones by `key`, lowest first.
type Candidate = (i64, Reverse<u64>, Pair);

/// A pair can only come about in the step that makes the younger of its two ids. So after that step its count can only fall, and
/// one entry in the heap is enough: an entry whose count is out of date is put back with the right one. Where the count is right,
/// no occurrence was lost, so the first is where it was.
///
/// For the same reason pairs below a floor need not be at hand at all: only when none above it is left, all are counted anew, with a
/// lower floor. Most pairs never come that far: they cost neither an entry nor a list of places.
struct Learner {
    symbols: Symbols,
    ties: Ties,
    /// Every pair that occurs at least so often is in `pairs` and, unless it was found forbidden, in `heap`.
    floor: i64,
    pairs: Pairs,
    heap: BinaryHeap<Candidate>,
    /// Lists of places, end to end; places that a pair has left since are passed over.
    places: Vec<u32>,
    /// When to count anew, to be rid of the lists that are not used any more.
    most_places: usize,
    beside: Beside,
}

impl Learner {
    fn new(words: WordsView<'_>, ties: Ties) -> Result<Self, EngineError> {
        let symbols = Symbols::new(words)?;
        Ok(Self {
            symbols,
            ties,
            floor: i64::MAX,
            pairs: Pairs::default(),
            heap: BinaryHeap::new(),
            places: Vec::new(),
            most_places: 0,
            beside: Beside::default(),
        })
    }

    /// Counts all pairs, and keeps those at hand that occur as often as `floor` says, which is given the counts of all.
    fn count(&mut self, floor: impl FnOnce(&mut [i64]) -> i64) -> Result<(), EngineError> {
        (self.pairs, self.heap, self.places) = Default::default(); // room for counting
        (self.pairs, self.floor) = Pairs::count(&self.symbols, floor, &mut self.places)?;
        self.most_places = self.places.len() + self.symbols.places() / 2;
        let candidates: Vec<Candidate> = self.pairs.iter().map(|(pair, seen)| self.candidate(pair, seen)).collect();
        self.heap = candidates.into();
        Ok(())
    }

    fn candidate(&self, pair: Pair, seen: &Seen) -> Candidate {
        let key = match self.ties {
            Ties::LowestIds => in_order(pair.0, pair.1),
            Ties::LowestCharacters => in_order(character_order(pair.0), character_order(pair.1)),
            Ties::FirstSeen => {
                let listed = &self.places[seen.first..seen.first + seen.listed as usize];
                listed.iter().find(|place| self.symbols.is_at(**place, pair)).map_or(u64::MAX, |place| u64::from(*place))
            }
        };
        (seen.count, Reverse(key), pair)
    }

    /// Takes the best pair out of the heap. None if none is left that occurs as often as the floor says.
    fn most_frequent(&mut self) -> Option<Pair> {
        while let Some((count, _, pair)) = self.heap.pop() {
            match self.pairs.get(pair) {
                Some(seen) if seen.count == count => return Some(pair),
                Some(seen) if seen.count >= self.floor => self.heap.push(self.candidate(pair, seen)),
                _ => {}
            }
        }
        None
    }

    /// Merges a pair wherever it stands, left to right, and keeps the counts right.
    fn merge(&mut self, pair: Pair, new_id: u32) -> Result<(), EngineError> {
        if self.places.len() > self.most_places {
            let floor = self.floor;
            self.count(|_| floor)?;
        }
        let Self { symbols, pairs, places, beside, .. } = self;
        symbols.add_token(pair);
        let Some(seen) = pairs.remove(pair) else { return Ok(()) };
        let listed = &places[seen.first..seen.first + seen.listed as usize];
        beside.begin(new_id);
        for (number, &place) in listed.iter().enumerate() {
            if let Some(soon) = listed.get(number + AHEAD) {
                symbols.prefetch(*soon);
            }
            if let Some(soon) = listed.get(number + AHEAD / 2) {
                symbols.prefetch_count(*soon);
            }
            if !symbols.is_at(place, pair) {
                continue;
            }
            let around = symbols.merge(place, pair, new_id);
            if around.before == new_id {
                // As in "abab": what was told of the one before, that `pair.0` follows it, holds no longer.
                beside.take_back(pair.0, around.count);
            }
            if around.before != BORDER {
                beside.tell(Side::Before, around.before, around.before_place, around.count);
            }
            if around.after != BORDER {
                beside.tell(Side::After, around.after, place, around.count);
            }
        }
        self.keep_neighbours(pair, new_id);
        Ok(())
    }

    /// Brings the counts of the pairs around what was merged up to date.
    fn keep_neighbours(&mut self, pair: Pair, new_id: u32) {
        let Self { pairs, beside, places, floor, .. } = self;
        for neighbour in &mut beside.neighbours {
            let (lost, made) = match neighbour.side {
                Side::Before => ((neighbour.id, pair.0), (neighbour.id, new_id)),
                Side::After => ((pair.1, neighbour.id), (new_id, neighbour.id)),
            };
            if neighbour.id != new_id {
                // Else it was taken back already.
                if let Some(seen) = pairs.get_mut(lost) {
                    seen.count -= neighbour.lost;
                }
            }
            neighbour.next = usize::MAX;
            if neighbour.made >= *floor {
                neighbour.next = places.len();
                places.resize(places.len() + neighbour.times as usize, 0);
                pairs.insert(made, neighbour.made, neighbour.next, neighbour.times);
            }
        }
        for &(number, place) in &beside.told {
            let next = &mut beside.neighbours[number as usize].next;
            if *next != usize::MAX {
                places[*next] = place;
                *next += 1;
            }
        }
        for number in 0..self.beside.neighbours.len() {
            let Neighbour { side, id, made, .. } = self.beside.neighbours[number];
            let pair = if side == Side::Before { (id, new_id) } else { (new_id, id) };
            if made >= self.floor {
                if let Some(seen) = self.pairs.get(pair) {
                    self.heap.push(self.candidate(pair, seen));
                }
            }
        }
        self.beside.clear();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// A token that stood beside some of the places where a pair was merged.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    side: Side,
    id: u32,
    /// How often the pair that it was in is gone.
    lost: i64,
    /// How often the pair that it is in now occurs.
    made: i64,
    /// At how many places that was told.
    times: u32,
    /// Where to list the next of them.
    next: usize,
}

/// What stands beside a pair that is being merged, gathered token by token: the table of pairs is then looked up once for each
/// distinct neighbour, not for each place.
#[derive(Debug, Default)]
struct Beside {
    new_id: u32,
    /// By token: its number among the neighbours before, and after; one more, so that 0 is none.
    numbers: Vec<[u32; 2]>,
    neighbours: Vec<Neighbour>,
    /// Number of a neighbour, and where the pair with it begins.
    told: Vec<(u32, u32)>,
}

impl Beside {
    fn begin(&mut self, new_id: u32) {
        self.new_id = new_id;
        self.numbers.resize(new_id as usize + 1, [0; 2]);
    }

    #[inline]
    fn tell(&mut self, side: Side, id: u32, place: u32, count: i64) {
        let number = &mut self.numbers[id as usize][side as usize];
        if *number == 0 {
            self.neighbours.push(Neighbour { side, id, lost: 0, made: 0, times: 0, next: 0 });
            *number = self.neighbours.len() as u32;
        }
        let neighbour = &mut self.neighbours[*number as usize - 1];
        neighbour.made += count;
        neighbour.lost += count;
        neighbour.times += 1;
        self.told.push((*number - 1, place));
    }

    fn take_back(&mut self, after: u32, count: i64) {
        let number = self.numbers[after as usize][Side::After as usize] as usize;
        self.neighbours[number - 1].made -= count;
    }

    fn clear(&mut self) {
        for neighbour in self.neighbours.drain(..) {
            self.numbers[neighbour.id as usize] = [0; 2];
        }
        self.told.clear();
    }
}
