//! Counted words, flat: what the counter makes, files of counts hold and the learner reads.

use crate::error::EngineError;

/// Distinct words one after the other, and how often each was seen: word n is `bytes[bounds[n]..bounds[n + 1]]`, seen
/// `counts[n]` times. Laid out as arrow's large binary and int64 columns, so that Python hands them on without a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// All words, end to end.
    pub bytes: Vec<u8>,
    /// Where each begins, and where the last ends: one more than there are words, or none where there are none.
    pub bounds: Vec<i64>,
    /// How often each was seen.
    pub counts: Vec<i64>,
}

impl Words {
    /// None yet, and room for some.
    pub fn with_room(words: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), bounds: Vec::with_capacity(words + 1), counts: Vec::with_capacity(words) }
    }

    /// Appends a word, or adds to its count if it is the last one.
    pub fn push_or_add(&mut self, word: &[u8], count: i64) {
        let last = self.bounds.len().checked_sub(2).map(|last| &self.bytes[self.bounds[last] as usize..]);
        match self.counts.last_mut() {
            Some(sum) if last == Some(word) => *sum += count,
            _ => self.push(word, count),
        }
    }

    /// Appends a word.
    pub fn push(&mut self, word: &[u8], count: i64) {
        if self.bounds.is_empty() {
            self.bounds.push(0);
        }
        self.bytes.extend_from_slice(word);
        self.bounds.push(self.bytes.len() as i64);
        self.counts.push(count);
    }

    /// The same without owning it.
    pub fn view(&self) -> WordsView<'_> {
        WordsView { bytes: &self.bytes, bounds: &self.bounds, counts: &self.counts }
    }
}

impl<'w> FromIterator<(&'w [u8], i64)> for Words {
    fn from_iter<I: IntoIterator<Item = (&'w [u8], i64)>>(words: I) -> Self {
        let mut all = Self::default();
        words.into_iter().for_each(|(word, count)| all.push(word, count));
        all
    }
}

/// `Words` that somebody else owns, such as arrow or numpy.
#[derive(Debug, Clone, Copy)]
pub struct WordsView<'w> {
    bytes: &'w [u8],
    bounds: &'w [i64],
    counts: &'w [i64],
}

impl<'w> WordsView<'w> {
    /// Words from arrays. An error if the bounds do not ascend within the bytes, or are not one more than the counts.
    pub fn new(bytes: &'w [u8], bounds: &'w [i64], counts: &'w [i64]) -> Result<Self, EngineError> {
        let empty = bounds.is_empty() && counts.is_empty();
        let within = bounds.first().is_none_or(|first| *first >= 0) && bounds.last().is_none_or(|last| *last <= bytes.len() as i64);
        if !empty && bounds.len() != counts.len() + 1 || !within || !bounds.is_sorted() {
            let what = format!("{} bounds of {} counted words in {} bytes", bounds.len(), counts.len(), bytes.len());
            return Err(EngineError::Spec(format!("{what}: they must ascend within the bytes, one more than there are words")));
        }
        Ok(Self { bytes, bounds, counts })
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How often the n-th was seen.
    #[inline]
    pub fn count(&self, word: usize) -> i64 {
        self.counts[word]
    }

    /// Each word and how often it was seen.
    pub fn iter(&self) -> impl Iterator<Item = (&'w [u8], i64)> + use<'w> {
        let Self { bytes, bounds, counts } = *self;
        let words = bounds.windows(2).map(move |bounds| &bytes[bounds[0] as usize..bounds[1] as usize]);
        words.zip(counts.iter().copied())
    }
}
