//! The bytes of every token, by id: what decoding needs.

use rustc_hash::FxHashMap;

use crate::error::EngineError;

/// A token of up to 15 bytes, and its length: one load gives both.
type Card = [u8; 16];

/// In place of a length: no token has this id.
const ABSENT: u8 = u8::MAX;
/// In place of a length: the token stands in `others`.
const ELSEWHERE: u8 = u8::MAX - 1;
/// Ids up to here have a card, so that a vocabulary with an id of two billion does not take 32 GiB.
const MOST_CARDS: usize = 1 << 22;
/// Cards copied at a time.
const CHUNK: usize = 256;

/// Token bytes by id.
#[derive(Debug, Default)]
pub struct TokenBytes {
    cards: Vec<Card>,
    /// Longer tokens, and those of very high ids.
    others: FxHashMap<u32, Box<[u8]>>,
}

impl TokenBytes {
    /// Adds a token, in place of an earlier one of the same id.
    pub fn insert(&mut self, id: u32, token: &[u8]) {
        let place = id as usize;
        let mut card = [0; 16];
        card[15] = ELSEWHERE;
        if let Some(room) = card[..15].get_mut(..token.len()) {
            room.copy_from_slice(token);
            card[15] = token.len() as u8;
        }
        if place < MOST_CARDS {
            if place >= self.cards.len() {
                self.cards.resize(place + 1, [ABSENT; 16]);
            }
            self.cards[place] = card;
        }
        if card[15] == ELSEWHERE || place >= MOST_CARDS {
            self.others.insert(id, token.into());
        }
    }

    /// The bytes of a token.
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        match self.cards.get(id as usize) {
            Some(card) if card[15] < ELSEWHERE => card.get(..usize::from(card[15])),
            _ => self.others.get(&id).map(AsRef::as_ref),
        }
    }

    /// One more than the highest id with a card.
    pub fn cards(&self) -> usize {
        self.cards.len()
    }

    /// Appends the bytes behind ids. `out` keeps what it got before an id that no token has.
    pub fn decode(&self, ids: &[u32], out: &mut Vec<u8>) -> Result<(), EngineError> {
        let mut buffer = [0u8; 16 * CHUNK];
        for chunk in ids.chunks(CHUNK) {
            let mut made = 0;
            for &id in chunk {
                match self.cards.get(id as usize) {
                    // Copies the whole card whatever its length: a copy of unknown length would be a call.
                    Some(card) if card[15] < ELSEWHERE => {
                        if let Some(room) = buffer.get_mut(made..made + 16) {
                            room.copy_from_slice(card);
                        }
                        made += usize::from(card[15]);
                    }
                    _ => {
                        out.extend_from_slice(&buffer[..made]);
                        made = 0;
                        out.extend_from_slice(self.get(id).ok_or_else(|| EngineError::UnknownId(id.to_string()))?);
                    }
                }
            }
            out.extend_from_slice(&buffer[..made]);
        }
        Ok(())
    }
}
