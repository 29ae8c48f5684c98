//! A few hundred pieces at a time: first all are packed and their places in the cache called for, then all are looked up.
//! So the memory accesses of a batch overlap, where one piece after the other would wait for each.

use std::ops::Range;

use crate::{
    cache::{Entry, PackedPiece, PieceCache, is_part, pack},
    split::Piece,
};

/// Pieces in a batch: the arrays stay in the first-level cache.
const PIECES: usize = 256;
/// Numbers copied out of an entry of the cache of short pieces: three ids, and how many of them there are.
const COPIED: usize = 4;
/// Ids gathered before they are handed on.
const IDS: usize = 2 * COPIED * PIECES;

/// Takes ids as they come, a few hundred at a time: called too seldom for a virtual call to matter.
pub type Sink<'s> = &'s mut dyn FnMut(&[u32]);

/// A piece or part that the cache of short pieces does not hold.
#[derive(Debug, Clone, Copy)]
pub struct Missed {
    /// Where it stands in the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Part of a longer piece.
    pub is_part: bool,
}

/// Pieces cut and packed but not looked up yet.
#[derive(Debug)]
pub struct Batch {
    keys: [u128; PIECES],
    places: [u32; PIECES],
    spans: [(u32, u32); PIECES],
    pieces: usize,
    ids: [u32; IDS],
    missed: Vec<u32>,
    /// Which of them go on with the piece before.
    rests: Vec<u32>,
    /// After `find`: the ids of all, and where those of each end.
    found: Vec<u32>,
    ends: Vec<u32>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            keys: [0; PIECES],
            places: [0; PIECES],
            spans: [(0, 0); PIECES],
            pieces: 0,
            ids: [0; IDS],
            missed: Vec::new(),
            rests: Vec::new(),
            found: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Batch {
    /// Adds pieces up to one that does not pack, or until the batch is full. Returns how many.
    #[inline(never)] // a small loop in registers
    pub fn push_short(&mut self, cache: &PieceCache, text: &[u8], pieces: &[Piece]) -> usize {
        let mut pushed = 0;
        for &(start, end) in pieces.iter().take(PIECES - self.pieces) {
            let Some(key) = pack(text, start as usize, end as usize) else { break };
            self.push(cache, key, start as usize, end as usize);
            pushed += 1;
        }
        pushed
    }

    /// Whether it must be looked up before more is added.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.pieces == PIECES
    }

    /// Adds a piece, or part of one, that stands at `start..end` of the text and packs as `key`; true if the batch is then
    /// full and must be looked up.
    #[inline]
    pub fn push(&mut self, cache: &PieceCache, key: PackedPiece, start: usize, end: usize) -> bool {
        let at = self.pieces % PIECES;
        let place = cache.short.place([key]);
        cache.short.prefetch(place);
        self.keys[at] = key;
        self.places[at] = place as u32;
        self.spans[at] = (start as u32, end as u32);
        self.pieces = at + 1;
        self.pieces == PIECES
    }

    /// The same for part of a piece. `goes_on`: the part before it is there already.
    pub fn push_part(&mut self, cache: &PieceCache, key: PackedPiece, start: usize, end: usize, goes_on: bool) -> bool {
        if goes_on {
            self.rests.push(self.pieces as u32);
        }
        self.push(cache, key, start, end)
    }

    fn missed(&self, at: usize) -> Missed {
        let (start, end) = self.spans[at];
        Missed { start: start as usize, end: end as usize, is_part: is_part(self.keys[at]) }
    }

    /// Hands the ids of all pieces to `sink`, in order, and empties the batch. `miss` appends those of a piece that the
    /// cache of short pieces does not hold at once.
    #[inline(never)]
    pub fn look_up(&mut self, cache: &mut PieceCache, sink: Sink<'_>, mut miss: impl FnMut(&mut PieceCache, Missed, &mut Vec<u32>)) {
        let mut made = 0;
        for at in 0..self.pieces {
            let entry = cache.short.get(self.places[at] as usize, [self.keys[at]]);
            if let Some((ids, length)) = entry.map(Entry::padded).filter(|(_, length)| *length < COPIED) {
                // Copies everything, whatever is used: a copy of unknown length would be a call.
                if let Some(room) = self.ids.get_mut(made..made + COPIED) {
                    room.copy_from_slice(ids);
                }
                made += length;
                continue;
            }
            self.missed.clear();
            miss(cache, self.missed(at), &mut self.missed);
            if made + self.missed.len() > IDS - COPIED * PIECES {
                // No room beside what the rest of the batch may need.
                sink(&self.ids[..made]);
                sink(&self.missed);
                made = 0;
            } else {
                self.ids[made..made + self.missed.len()].copy_from_slice(&self.missed);
                made += self.missed.len();
            }
        }
        sink(&self.ids[..made]);
        self.rests.clear();
        self.empty(cache);
    }

    /// Looks all pieces up, keeps the ids of each for `each_found`, and empties the batch.
    #[inline(never)]
    pub fn find(&mut self, cache: &mut PieceCache, mut miss: impl FnMut(&mut PieceCache, Missed, &mut Vec<u32>)) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.ends.clear();
        for at in 0..self.pieces {
            match cache.short.get(self.places[at] as usize, [self.keys[at]]).map(Entry::padded) {
                Some((ids, length)) if length < COPIED => found.extend_from_slice(&ids[..length]),
                _ => miss(cache, self.missed(at), &mut found),
            }
            self.ends.push(found.len() as u32);
        }
        self.found = found;
        self.empty(cache);
    }

    /// Calls `visit` with where each piece stands that was found, whether it goes on with the piece before, and its ids.
    pub fn for_each_found(&mut self, mut visit: impl FnMut(Range<usize>, bool, &[u32])) {
        let mut rests = self.rests.iter().peekable();
        let mut begin = 0;
        for ((at, &end), &(from, to)) in (0..).zip(&self.ends).zip(&self.spans) {
            let goes_on = rests.next_if_eq(&&at).is_some();
            visit(from as usize..to as usize, goes_on, &self.found[begin..end as usize]);
            begin = end as usize;
        }
        self.rests.clear();
    }

    fn empty(&mut self, cache: &mut PieceCache) {
        cache.lookups += self.pieces as u64;
        self.pieces = 0;
        cache.grow();
    }
}
