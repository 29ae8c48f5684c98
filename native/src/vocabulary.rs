//! Tokens and the merges that make them, by number: what a tokenizer knows whatever text it sees. Built once, never changed.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    error::EngineError,
    merge::{MergeScratch, merge_piece},
    merge_runs::{merge_runs, runs_of},
    pair_table::{Merge, NO_RANK, PairTable},
    recover::{merge_by_spelling, recover},
    spellings::{BYTES, Spellings},
};

/// The pairs that make tokens, and the tokens that no pair makes.
#[derive(Debug)]
struct Resolved {
    pairs: PairTable,
    unreachable: Vec<u32>,
}

/// A vocabulary with its merges.
///
/// A rank table does not say which pairs make its tokens. Finding out takes three quarters of the time to load one, and is
/// put off until much is merged: the first pieces are merged by spelling.
#[derive(Debug)]
pub struct Vocabulary {
    /// Token bytes by symbol.
    pub spellings: Spellings,
    /// Ids by symbol.
    pub ids: Vec<u32>,
    is_by_rank: bool,
    resolved: OnceLock<Resolved>,
    by_id: OnceLock<Vec<(u32, u32)>>,
    merged_by_spelling: AtomicUsize,
}

/// Pieces merged by spelling before the pairs are found: they take about as long as that.
const MERGED_BY_SPELLING: usize = 8192;
/// The longest of them in bytes, as merging by spelling is quadratic.
const SPELLED: usize = 64;

impl Vocabulary {
    /// From tokens with ids, and pairs of token bytes, best rank first.
    pub fn new(vocab: &[(&[u8], u32)], merges: &[(&[u8], &[u8])]) -> Result<Self, EngineError> {
        let longer: Vec<&[u8]> = vocab.iter().map(|(token, _)| *token).filter(|token| token.len() != 1).collect();
        let spellings = Spellings::bytes_and(&longer)?;
        let symbol = |token: &[u8]| spellings.find(token).ok_or_else(|| lacking(token));
        let mut ids = vec![None; spellings.len()];
        for (token, id) in vocab {
            ids[symbol(token)? as usize] = Some(*id);
        }
        if merges.len() > PairTable::MOST {
            return Err(EngineError::TooManyMerges { limit: PairTable::MOST });
        }
        let mut pairs = PairTable::with_room_for(merges.len());
        let mut joined = Vec::new();
        for (left, right) in merges {
            joined.clear();
            joined.extend_from_slice(left);
            joined.extend_from_slice(right);
            let merge = Merge { left: symbol(left)?, right: symbol(right)?, made: symbol(&joined)? };
            if pairs.rank(merge.left, merge.right) != NO_RANK {
                return Err(EngineError::Spec(format!("the merge that makes {:?} comes twice", String::from_utf8_lossy(&joined))));
            }
            pairs.push(merge);
        }
        let ids = ids.into_iter().zip(spellings.iter()).map(|(id, token)| id.ok_or_else(|| lacking(token))).collect::<Result<_, _>>()?;
        let resolved = OnceLock::from(Resolved { pairs, unreachable: Vec::new() });
        let vocabulary =
            Self { spellings, ids, is_by_rank: false, resolved, by_id: OnceLock::new(), merged_by_spelling: AtomicUsize::new(0) };
        if vocabulary.by_id().windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(EngineError::Spec("an id comes twice".to_owned()));
        }
        Ok(vocabulary)
    }

    /// From tiktoken's format, a line for each token: its bytes in base64, a space, its rank. Every byte must be among them,
    /// and no token or rank twice. Errors do not say which line: this is the fast way for sound files.
    pub fn from_rank_file(content: &[u8]) -> Result<Self, EngineError> {
        let mut bytes = Vec::with_capacity(content.len());
        let mut entries = Vec::with_capacity(content.len() / 12); // (rank, start, end)
        for line in content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let (rank, length) = parse_line(line, &mut bytes).ok_or_else(|| EngineError::Spec("not a table of ranks".to_owned()))?;
            entries.push((rank, bytes.len() - length, bytes.len()));
        }
        if !entries.is_sorted() {
            entries.sort_unstable();
        }
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(EngineError::Spec("a rank comes twice".to_owned()));
        }
        let mut ids = vec![None; BYTES];
        let mut longer: Vec<&[u8]> = Vec::with_capacity(entries.len());
        for (rank, start, end) in entries {
            match &bytes[start..end] {
                [byte] => {
                    if ids[usize::from(*byte)].replace(rank).is_some() {
                        return Err(EngineError::Spec("a byte comes twice".to_owned()));
                    }
                }
                token => {
                    longer.push(token);
                    ids.push(Some(rank));
                }
            }
        }
        let ids = ids.into_iter().collect::<Option<_>>().ok_or_else(|| EngineError::Spec("a byte is lacking".to_owned()))?;
        if longer.len() > PairTable::MOST {
            return Err(EngineError::TooManyMerges { limit: PairTable::MOST });
        }
        let spellings = Spellings::bytes_and(&longer)?;
        let (resolved, by_id) = (OnceLock::new(), OnceLock::new());
        Ok(Self { spellings, ids, is_by_rank: true, resolved, by_id, merged_by_spelling: AtomicUsize::new(0) })
    }

    /// From tokens and merges in the printable spelling of bytes; a merge is its two tokens.
    pub fn from_spelled(vocab: &[(&str, u32)], merges: &[(&str, &str)]) -> Result<Self, EngineError> {
        let mut bytes = Vec::with_capacity(8 * (vocab.len() + 2 * merges.len()));
        let mut ends = Vec::with_capacity(vocab.len() + 2 * merges.len());
        let spelled = vocab.iter().map(|(token, _)| token).chain(merges.iter().flat_map(|(left, right)| [left, right]));
        for token in spelled {
            for character in token.chars() {
                bytes.push(spelled_byte(character).ok_or_else(|| EngineError::Spec(format!("{token:?} spells no bytes")))?);
            }
            ends.push(bytes.len());
        }
        let mut start = 0;
        let mut tokens = ends.iter().map(|end| &bytes[std::mem::replace(&mut start, *end)..*end]);
        let vocab: Vec<(&[u8], u32)> = tokens.by_ref().zip(vocab).map(|(token, (_, id))| (token, *id)).collect();
        let merges: Vec<(&[u8], &[u8])> = std::iter::from_fn(|| Some((tokens.next()?, tokens.next()?))).collect();
        Self::new(&vocab, &merges)
    }

    /// (id, symbol), by id.
    fn by_id(&self) -> &[(u32, u32)] {
        self.by_id.get_or_init(|| {
            let mut by_id: Vec<(u32, u32)> = self.ids.iter().copied().zip(0..).collect();
            if !by_id.is_sorted() {
                by_id.sort_unstable();
            }
            by_id
        })
    }

    /// The bytes of an id.
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let at = self.by_id().binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.spellings.get(self.by_id()[at].1))
    }

    fn resolved(&self) -> &Resolved {
        self.resolved.get_or_init(|| {
            let (pairs, unreachable) = recover(&self.spellings);
            Resolved { pairs, unreachable }
        })
    }

    /// Whether it is a table of ranks, which says its merges only by its order.
    pub fn is_by_rank(&self) -> bool {
        self.is_by_rank
    }

    /// Whether it is known by now that merging reaches every token, so that looking a piece up as a whole changes nothing.
    #[inline]
    pub fn is_all_reachable(&self) -> bool {
        self.is_by_rank && self.resolved.get().is_some_and(|resolved| resolved.unreachable.is_empty())
    }

    /// The merges, best rank first.
    pub fn merges(&self) -> &[Merge] {
        self.resolved().pairs.merges()
    }

    /// Tokens that merging never makes, if this is a table of ranks.
    pub fn unreachable(&self) -> &[u32] {
        &self.resolved().unreachable
    }

    /// Appends the ids of a piece.
    pub fn merge(&self, piece: &[u8], scratch: &mut MergeScratch, out: &mut Vec<u32>) {
        let id = |symbol: u32| self.ids[symbol as usize];
        if self.resolved.get().is_none() && piece.len() > SPELLED {
            let runs = runs_of(piece.iter().map(|byte| u32::from(*byte)));
            if let Some(runs) = runs.and_then(|runs| merge_runs(runs, &self.spellings)) {
                out.extend(runs.into_iter().flat_map(|run| std::iter::repeat_n(id(run.symbol), run.count)));
                return;
            }
        }
        let spells = self.resolved.get().is_none() && piece.len() <= SPELLED;
        if spells && self.merged_by_spelling.fetch_add(1, Ordering::Relaxed) < MERGED_BY_SPELLING {
            let starts = merge_by_spelling(piece, &self.spellings, 1);
            out.extend(starts.windows(2).filter_map(|part| self.spellings.find(&piece[part[0]..part[1]]).map(id)));
            return;
        }
        merge_piece(piece.iter().map(|byte| u32::from(*byte)), &self.resolved().pairs, scratch, |symbol| out.push(id(symbol)));
    }
}

/// The rank of a line and the length of its token, whose bytes are appended.
fn parse_line(line: &[u8], bytes: &mut Vec<u8>) -> Option<(u32, usize)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (token, digits) = (&line[..space], &line[space + 1..]);
    if digits.is_empty() || digits.len() > 9 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let before = bytes.len();
    bytes.resize(before + token.len() / 4 * 3, 0);
    let length = STANDARD.decode_slice(token, &mut bytes[before..]).ok()?;
    bytes.truncate(before + length);
    Some((digits.iter().fold(0, |rank, digit| 10 * rank + u32::from(digit - b'0')), length))
}

/// The byte that a character of the printable alphabet spells: itself where Latin-1 can print it, else the n-th of the 68 others.
fn spelled_byte(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),        // 0x00 to 0x20
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8), // 0x7F to 0xA0
        0x143 => Some(0xAD),
        _ => None,
    }
}

fn lacking(token: &[u8]) -> EngineError {
    EngineError::Spec(format!("{:?} is used but is not in the vocabulary", String::from_utf8_lossy(token)))
}
