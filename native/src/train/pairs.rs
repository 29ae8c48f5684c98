//! Pairs of tokens: how often each occurs, and where.

use hashbrown::{HashTable, hash_table::Entry};

use super::symbols::{Pair, Symbols};
use crate::{error::EngineError, memory::Pages};

/// How often a pair occurs, and where.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pair: Pair,
    /// How often, by the counts of its words.
    pub count: i64,
    /// Where its places are listed.
    pub first: usize,
    /// How many are.
    pub listed: u32,
}

/// The pairs at hand.
#[derive(Debug, Default)]
pub struct Pairs {
    table: HashTable<Seen>,
}

#[inline]
fn hash(pair: Pair) -> u64 {
    let mixed = (u64::from(pair.0) << 32 | u64::from(pair.1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 32
}

impl Pairs {
    /// What is known of a pair.
    #[inline]
    pub fn get(&self, pair: Pair) -> Option<&Seen> {
        self.table.find(hash(pair), |seen| seen.pair == pair)
    }

    /// The same, to change.
    #[inline]
    pub fn get_mut(&mut self, pair: Pair) -> Option<&mut Seen> {
        self.table.find_mut(hash(pair), |seen| seen.pair == pair)
    }

    /// Forgets a pair.
    pub fn remove(&mut self, pair: Pair) -> Option<Seen> {
        self.table.find_entry(hash(pair), |seen| seen.pair == pair).ok().map(|entry| entry.remove().0)
    }

    /// Adds a pair that is not known yet.
    pub fn insert(&mut self, pair: Pair, count: i64, first: usize, listed: u32) {
        self.table.insert_unique(hash(pair), Seen { pair, count, first, listed }, |seen| hash(seen.pair));
    }

    /// All pairs.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, &Seen)> {
        self.table.iter().map(|seen| (seen.pair, seen))
    }

    /// The pairs of the corpus that occur as often as `floor` says, which is given the counts of all. `places` becomes the lists of where
    /// they are, ascending, with room for half as many more as there are places. Returns them with the floor.
    pub fn count(symbols: &Symbols, floor: impl FnOnce(&mut [i64]) -> i64, places: &mut Vec<u32>) -> Result<(Self, i64), EngineError> {
        let mut census = Census::new(symbols.places())?;
        symbols.for_each_pair(|pair, _, count| census.add(pair, count));
        let Census { square, seen, numbers, .. } = census.checked()?;
        let floor = floor(&mut seen.iter().map(|seen| seen.count).collect::<Vec<i64>>());

        let kept = seen.iter().filter(|seen| seen.count >= floor).count();
        let mut pairs = Self { table: HashTable::with_capacity(kept) };
        let mut listed = 0;
        let mut nexts = Vec::with_capacity(seen.len());
        for seen in seen {
            if seen.count < floor {
                nexts.push(NOWHERE);
                continue;
            }
            nexts.push(listed);
            pairs.insert(seen.pair, seen.count, listed, seen.listed);
            listed += seen.listed as usize;
        }
        *places = vec![0; listed + symbols.places() / 2]; // zero pages, which the system makes when they are written to
        places.truncate(listed);
        let mut numbers = numbers.into_iter();
        symbols.for_each_pair(|pair, place, _| {
            let number = slot_of(pair).map_or_else(|| numbers.next(), |slot| square[slot].checked_sub(1));
            let next = number.and_then(|number| nexts.get_mut(number as usize));
            if let Some(next) = next.filter(|next| **next != NOWHERE) {
                places[*next] = place;
                *next += 1;
            }
        });
        Ok((pairs, floor))
    }
}

/// In place of the next place in a list, where there is no list.
const NOWHERE: usize = usize::MAX;
/// The pairs of tokens below this number are found in a square, 4 MiB, and not in a table: when all are counted for the second time, those
/// are nearly all.
const SQUARE: usize = 1 << 10;

/// The place of a pair in the square, if it is in there.
#[inline]
fn slot_of((left, right): Pair) -> Option<usize> {
    let (left, right) = (left as usize, right as usize);
    (left < SQUARE && right < SQUARE).then_some(left * SQUARE + right)
}

/// All pairs of a corpus, numbered as they come.
struct Census {
    square: Pages<u32>,
    /// The numbers of the other pairs. That pairs stand beside them saves a second miss of the cache.
    table: HashTable<(Pair, u32)>,
    seen: Vec<Seen>,
    /// The number of each pair in the corpus that is not in the square, one after the other.
    numbers: Vec<u32>,
    too_frequent: Option<Pair>,
}

impl Census {
    fn new(places: usize) -> Result<Self, EngineError> {
        let square = Pages::zeroed(SQUARE * SQUARE).map_err(|error| EngineError::Memory(error.to_string()))?;
        Ok(Self { square, table: HashTable::new(), seen: Vec::new(), numbers: Vec::with_capacity(places), too_frequent: None })
    }

    #[inline]
    fn add(&mut self, pair: Pair, count: i64) {
        let number = match slot_of(pair) {
            Some(slot) => self.number_in_square(pair, slot),
            None => self.number_in_table(pair),
        };
        let seen = &mut self.seen[number as usize];
        seen.listed += 1;
        match seen.count.checked_add(count) {
            Some(sum) => seen.count = sum,
            None => self.too_frequent = Some(pair),
        }
    }

    /// The number of a pair, a new one if need be.
    #[inline]
    fn number_in_square(&mut self, pair: Pair, slot: usize) -> u32 {
        let number = &mut self.square[slot]; // one more, so that 0 is none
        if *number == 0 {
            self.seen.push(Seen { pair, count: 0, first: 0, listed: 0 });
            *number = self.seen.len() as u32;
        }
        *number - 1
    }

    /// The same, and it is noted: the table is not looked up again.
    #[inline]
    fn number_in_table(&mut self, pair: Pair) -> u32 {
        let number = match self.table.entry(hash(pair), |known| known.0 == pair, |known| hash(known.0)) {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(free) => {
                let next = self.seen.len() as u32;
                free.insert((pair, next));
                self.seen.push(Seen { pair, count: 0, first: 0, listed: 0 });
                next
            }
        };
        self.numbers.push(number);
        number
    }

    fn checked(self) -> Result<Self, EngineError> {
        self.too_frequent.map_or(Ok(self), |pair| Err(EngineError::TooFrequent { pair }))
    }
}
