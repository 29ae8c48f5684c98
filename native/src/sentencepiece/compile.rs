//! From pieces with scores to merges of symbols.
//!
//! SentencePiece merges whichever neighbours make the piece with the highest score, the leftmost of equals. Each piece has one
//! pair that can make it: the last one that this comes to on the piece's own characters. So merges by rank say the same, if
//! they begin with those that put characters together from bytes, and go on with these pairs in the order of scores.
//! Only among equal scores does the place decide, not the piece; see `ties`.

use rustc_hash::FxHashSet;

use super::{
    Kind, Piece,
    normalizer::SPACE_SYMBOL,
    outputs::Outputs,
    ties::{Scores, Ties, merge_by_score},
};
use crate::{
    error::EngineError,
    merge::{MergeScratch, merge_piece},
    pair_table::{Merge, PairTable},
    spellings::{BYTES, Spellings},
};

/// How pieces of text are merged.
#[derive(Debug)]
pub enum Merger {
    /// By rank.
    Ranked(PairTable),
    /// By score and place, slower: some pieces of equal score come in this order here and in that order there.
    Scored,
}

/// A model's pieces as symbols.
#[derive(Debug)]
pub struct Compiled {
    /// Symbols and their scores.
    pub scores: Scores,
    /// Their merges.
    pub merger: Merger,
    /// Which ids they become.
    pub outputs: Outputs,
}

/// A piece as it stands in normalised text; `None` if it never does.
pub fn internal(content: &str, escape_spaces: bool) -> Option<String> {
    if !escape_spaces {
        return Some(content.to_owned());
    }
    if content.contains(' ') { None } else { Some(content.replace(SPACE_SYMBOL, " ")) }
}

impl Compiled {
    /// `byte_ids`: what characters that are no piece become; else `unknown`.
    pub fn new(pieces: &[Piece<'_>], escape_spaces: bool, byte_ids: Option<&[u32]>, unknown: u32) -> Result<Self, EngineError> {
        let mut texts = Vec::with_capacity(pieces.len()); // of those that merge: (text, score, id, whether it is taken apart)
        for (id, piece) in (0..).zip(pieces) {
            let is_unused = piece.kind == Kind::Unused;
            if let Some(text) = internal(piece.content, escape_spaces).filter(|_| is_unused || piece.kind == Kind::Normal) {
                texts.push((text, piece.score, id, is_unused));
            }
        }
        texts.sort_by(|one, other| other.1.total_cmp(&(one.1)));
        let is_character = |text: &str| text.chars().nth(1).is_none();
        let beginnings = beginnings(texts.iter().map(|(text, ..)| text.as_str()));
        let mut longer: Vec<&[u8]> = beginnings.iter().map(Vec::as_slice).collect();
        longer.extend(texts.iter().map(|(text, ..)| text.as_str()).filter(|text| !is_character(text)).map(str::as_bytes));
        if longer.len() > PairTable::MOST {
            return Err(EngineError::TooManyMerges { limit: PairTable::MOST });
        }
        let spellings = Spellings::bytes_and(&longer)?;
        let first = (BYTES + beginnings.len()) as u32;
        let mut groups = vec![0; first as usize];
        let mut ids = vec![None; spellings.len()];
        let mut is_taken_apart = vec![false; spellings.len()];
        let mut previous = None;
        for (text, score, id, is_unused) in &texts {
            if is_character(text) {
                // A single character that is unused is unknown.
                let symbol = spellings.find(text.as_bytes()).map_or(0, |symbol| symbol as usize);
                ids[symbol] = Some(*id).filter(|_| !is_unused);
                continue;
            }
            // Negative zero is no less than zero.
            let last = groups.last().copied().unwrap_or(0);
            groups.push(if previous == Some(*score) { last } else { last + 1 });
            previous = Some(*score);
            ids[groups.len() - 1] = Some(*id);
            is_taken_apart[groups.len() - 1] = *is_unused;
        }
        let scores = Scores { spellings, groups, first };
        let mut pairs = PairTable::with_room_for(scores.spellings.len());
        for made in BYTES as u32..first {
            pairs.push(scores.beginning(made));
        }
        let ranked = rank(&scores, pairs);
        let pair_of: Vec<Option<(u32, u32)>> = match &ranked {
            Some(pairs) => {
                let mut pair_of = vec![None; scores.spellings.len()];
                pairs.merges().iter().for_each(|merge| pair_of[merge.made as usize] = Some((merge.left, merge.right)));
                pair_of
            }
            None => {
                let parts = |symbol: usize| if is_taken_apart[symbol] { last_pair(&scores, symbol as u32) } else { None };
                (0..scores.spellings.len()).map(parts).collect()
            }
        };
        let apart = |symbol: usize| pair_of[symbol].filter(|_| is_taken_apart[symbol]);
        let outputs = Outputs::new(&scores.spellings, first, &ids, apart, escape_spaces, byte_ids, unknown);
        Ok(Self { scores, merger: ranked.map_or(Merger::Scored, Merger::Ranked), outputs })
    }

    /// The pieces that merging can make, and maybe others.
    pub fn made(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.scores.spellings.len() as u32;
        let ranked: Option<Vec<bool>> = match &self.merger {
            Merger::Scored => None,
            Merger::Ranked(pairs) => {
                let mut is_made = vec![false; all as usize];
                pairs.merges().iter().for_each(|merge| is_made[merge.made as usize] = true);
                Some(is_made)
            }
        };
        let is_made = move |symbol: &u32| ranked.as_ref().is_none_or(|ranked| ranked[*symbol as usize]);
        (self.scores.first..all).filter(is_made).map(|symbol| self.scores.spellings.get(symbol))
    }
}

/// What characters beyond ASCII begin with, and they themselves: two bytes, three, four. Each but its last byte comes earlier.
fn beginnings<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<Vec<u8>> {
    let characters: FxHashSet<char> = texts.flat_map(str::chars).filter(|character| !character.is_ascii()).collect();
    let mut beginnings = FxHashSet::default();
    for character in characters {
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        beginnings.extend((2..=bytes.len()).map(|length| bytes[..length].to_vec()));
    }
    let mut beginnings: Vec<Vec<u8>> = beginnings.into_iter().collect();
    beginnings.sort_unstable_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
    beginnings
}

/// Merges by rank that say the same as the scores; `None` if there are none.
fn rank(scores: &Scores, mut pairs: PairTable) -> Option<PairTable> {
    let mut ties = Ties::new(scores);
    let mut scratch = MergeScratch::default();
    let mut start = scores.first;
    let all = scores.spellings.len() as u32;
    let mut equals = Vec::new();
    while start < all {
        let group = scores.groups[start as usize];
        let mut end = start;
        equals.clear();
        while end < all && scores.groups[end as usize] == group {
            equals.extend(pair(scores, end, &pairs, &mut scratch));
            end += 1;
        }
        for merge in ties.in_order(&equals)? {
            pairs.push(merge);
        }
        start = end;
    }
    Some(pairs)
}

/// The pair that makes a symbol, if all pairs of better score are known.
///
/// Where those lead to two symbols, every choice on the way was the whole model's choice too, as all others have worse
/// scores. Where they do not, the model's own loop is run on bytes.
fn pair(scores: &Scores, made: u32, pairs: &PairTable, scratch: &mut MergeScratch) -> Option<Merge> {
    let (mut symbols, mut count) = ([0; 2], 0);
    let bytes = scores.spellings.get(made).iter().map(|byte| u32::from(*byte));
    merge_piece(bytes, pairs, scratch, |symbol| {
        symbols[count.min(1)] = symbol;
        count += 1;
    });
    let found = if count == 2 { Some((symbols[0], symbols[1])) } else { last_pair(scores, made) };
    found.map(|(left, right)| Merge { left, right, made })
}

/// The last two symbols that merging by score comes to; `None` if it stops short of the whole.
fn last_pair(scores: &Scores, made: u32) -> Option<(u32, u32)> {
    let text = scores.spellings.get(made);
    let mut last = 0;
    let starts = merge_by_score(text, scores, |middle| last = middle);
    if starts.len() != 1 {
        return None;
    }
    scores.spellings.find(&text[..last]).zip(scores.spellings.find(&text[last..]))
}
