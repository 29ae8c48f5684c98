//! Counts of short pieces: a table of 24 bytes a place.

use crate::{
    cache::{PackedPiece, hash},
    error::EngineError,
    memory::{Pages, prefetch},
};

/// Pieces that are called for together.
pub const RUN: usize = 64;

/// The halves of a packed piece, and its count; all zero where there is none.
type Counted = [u64; 3];

/// Packed pieces and how often each was seen. A piece stands at the first free place from where its hash says; at most three
/// places in four are taken.
#[derive(Debug, Default)]
pub struct PackedCounts {
    places: Option<Pages<Counted>>,
    taken: usize,
}

fn piece_of([low, high, _]: Counted) -> PackedPiece {
    PackedPiece::from(low) | PackedPiece::from(high) << 64
}

const FIRST_PLACES: usize = 1 << 12;

impl PackedCounts {
    fn places(&self) -> &[Counted] {
        self.places.as_deref().unwrap_or(&[])
    }

    /// Makes room for so many pieces more. Places change.
    #[inline]
    pub fn reserve(&mut self, pieces: usize) -> Result<(), EngineError> {
        if 4 * (self.taken + pieces) > 3 * self.places().len() { self.grow(pieces) } else { Ok(()) }
    }

    #[cold]
    fn grow(&mut self, pieces: usize) -> Result<(), EngineError> {
        let places = (2 * (self.taken + pieces)).next_power_of_two().max(FIRST_PLACES);
        let wider = Pages::zeroed(places).map_err(|error| EngineError::Memory(error.to_string()))?;
        let narrow = Self { places: self.places.replace(wider), taken: 0 };
        self.taken = 0;
        self.absorb(&narrow)
    }

    /// Where to begin to look for a piece.
    #[inline]
    pub fn place(&self, piece: PackedPiece) -> usize {
        hash(piece) as usize & (self.places().len() - 1)
    }

    /// The same, and asks for what is there.
    #[inline]
    pub fn call_for(&self, piece: PackedPiece) -> usize {
        let place = self.place(piece);
        prefetch(self.places(), place);
        place
    }

    /// Counts a piece, for which there must be room, and whose place this is.
    #[inline]
    pub fn add(&mut self, piece: PackedPiece, place: usize, times: i64) {
        let Some(places) = self.places.as_deref_mut() else { return };
        let last = places.len() - 1;
        let mut place = place;
        loop {
            let counted = &mut places[place & last];
            if piece_of(*counted) == piece {
                counted[2] = counted[2].wrapping_add(times as u64);
                return;
            }
            if piece_of(*counted) == 0 {
                *counted = [piece as u64, (piece >> 64) as u64, times as u64];
                self.taken += 1;
                return;
            }
            place += 1;
        }
    }

    /// Adds all of another.
    pub fn absorb(&mut self, other: &Self) -> Result<(), EngineError> {
        for some in other.places().chunks(RUN) {
            self.reserve(RUN)?;
            let mut found = [(0, 0); RUN];
            for (counted, found) in some.iter().zip(&mut found) {
                let piece = piece_of(*counted);
                *found = (piece, self.call_for(piece));
            }
            for ((piece, place), counted) in found.into_iter().zip(some).filter(|((piece, _), _)| *piece != 0) {
                self.add(piece, place, counted[2] as i64);
            }
        }
        Ok(())
    }

    /// Each piece and how often it was seen.
    pub fn iter(&self) -> impl Iterator<Item = (PackedPiece, i64)> {
        self.places().iter().map(|counted| (piece_of(*counted), counted[2] as i64)).filter(|(piece, _)| *piece != 0)
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.taken
    }

    /// The memory it holds, in bytes.
    pub fn nbytes(&self) -> usize {
        size_of_val(self.places())
    }
}
