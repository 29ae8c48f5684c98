//! From ids to text, by SentencePiece's rules.

use super::{Kind, Piece, charsmap::Charsmap, normalizer::SPACE_SYMBOL};
use crate::{error::EngineError, tokens::TokenBytes};

/// What a piece is where the text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    /// Begins with a space.
    Spaced,
    /// Gives nothing, and comes between bytes.
    Control,
}

/// Which spaces go where the text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadingSpaces {
    /// None.
    Stay,
    /// The one that encoding adds.
    LoseOne,
    /// All.
    Go,
}

/// How ids become text.
#[derive(Debug)]
pub struct Decoder {
    roles: Vec<Role>,
    leading_spaces: LeadingSpaces,
    denormalizer: Option<Charsmap>,
}

impl Decoder {
    /// `denormalizer`: a charsmap, or nothing. What each piece gives goes into `tokens`.
    pub fn new(
        pieces: &[Piece<'_>],
        unknown_surface: &str,
        leading_spaces: LeadingSpaces,
        denormalizer: &[u8],
        tokens: &mut TokenBytes,
    ) -> Result<Self, EngineError> {
        let mut roles = Vec::with_capacity(pieces.len());
        for (id, piece) in (0..).zip(pieces) {
            match piece.kind {
                Kind::Control => tokens.insert(id, b""),
                Kind::Unknown => tokens.insert(id, unknown_surface.as_bytes()),
                Kind::Byte => tokens.insert(id, &[piece.byte()?]),
                Kind::Normal | Kind::UserDefined | Kind::Unused => {
                    tokens.insert(id, piece.content.replace(SPACE_SYMBOL, " ").as_bytes());
                }
            }
            let is_spaced = !matches!(piece.kind, Kind::Control | Kind::Unknown | Kind::Byte) && piece.content.starts_with(SPACE_SYMBOL);
            roles.push(if piece.kind == Kind::Control {
                Role::Control
            } else if is_spaced {
                Role::Spaced
            } else {
                Role::Plain
            });
        }
        let denormalizer = if denormalizer.is_empty() { None } else { Some(Charsmap::new(denormalizer)?) };
        Ok(Self { roles, leading_spaces, denormalizer })
    }

    fn role(&self, id: u32) -> Role {
        self.roles.get(id as usize).copied().unwrap_or(Role::Plain)
    }

    /// Puts the bytes behind ids into `out`, which is empty.
    pub fn bytes(&self, ids: &[u32], tokens: &TokenBytes, out: &mut Vec<u8>) -> Result<(), EngineError> {
        self.decode(ids, tokens, false, out)
    }

    /// Puts the text behind ids into `out`, which is empty: each byte that is no part of a character is one U+FFFD.
    pub fn text(&self, ids: &[u32], tokens: &TokenBytes, out: &mut Vec<u8>) -> Result<(), EngineError> {
        self.decode(ids, tokens, true, out)
    }

    fn decode(&self, ids: &[u32], tokens: &TokenBytes, is_text: bool, out: &mut Vec<u8>) -> Result<(), EngineError> {
        let begun = self.begin(ids, tokens, out)?;
        // A control piece between bytes parts them.
        for ids in ids[begun..].split(|id| self.role(*id) == Role::Control) {
            let before = out.len();
            tokens.decode(ids, out)?;
            if is_text {
                replace_malformed(out, before);
            }
        }
        if let Some(denormalizer) = &self.denormalizer {
            *out = denormalizer.replace(out);
        }
        Ok(())
    }

    /// Decodes as far as leading spaces may go; returns how many ids that is.
    fn begin(&self, ids: &[u32], tokens: &TokenBytes, out: &mut Vec<u8>) -> Result<usize, EngineError> {
        if self.leading_spaces == LeadingSpaces::Stay {
            return Ok(0);
        }
        for (at, &id) in ids.iter().enumerate() {
            let content = tokens.get(id).ok_or_else(|| EngineError::UnknownId(id.to_string()))?;
            match self.role(id) {
                Role::Spaced => {
                    out.extend_from_slice(&content[1..]);
                    if self.leading_spaces == LeadingSpaces::LoseOne || !out.is_empty() {
                        return Ok(at + 1);
                    }
                }
                _ if content.is_empty() => {}
                _ => return Ok(at),
            }
        }
        Ok(ids.len())
    }
}

/// Puts U+FFFD for each byte from `start` on that is no part of a character.
fn replace_malformed(out: &mut Vec<u8>, start: usize) {
    if std::str::from_utf8(&out[start..]).is_ok() {
        return;
    }
    let mut mended = Vec::with_capacity(out.len() - start + 16);
    for chunk in out[start..].utf8_chunks() {
        mended.extend_from_slice(chunk.valid().as_bytes());
        chunk.invalid().iter().for_each(|_| mended.extend_from_slice("\u{FFFD}".as_bytes()));
    }
    out.truncate(start);
    out.extend(mended);
}
