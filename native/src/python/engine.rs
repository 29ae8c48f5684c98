//! Encoding and decoding, for Python.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{
    buffer::PyBuffer,
    exceptions::PyValueError,
    prelude::*,
    pybacked::PyBackedStr,
    types::{PyBytes, PyFrozenSet, PyList, PyString},
};

use super::{
    errors::{raise, run},
    ints::{SharedInts, read_ids},
    normalizer::{self, StepFields},
    places::{self, Places, Unit},
    ragged::{self, Id},
    text::Text,
    vocabulary::Vocabulary,
};
use crate::{
    added::AddedToken,
    error::EngineError,
    model::{self, Coder, Model},
    parallel,
    parts::Trust,
    sentencepiece::{Kind, Piece, Prepend, Rules, Settings},
    split::Splitter,
    utf8::as_text,
};

/// What to do with added tokens during a call; made by `Engine.policy`.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
pub struct Policy(model::Policy);

/// A tokenizer ready to run.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
pub struct Engine {
    model: Model,
    ints: Arc<SharedInts>,
}

type AddedTokenFields = (String, u32, bool, bool, bool, bool, bool);
/// Ids and, per text, where its ids begin.
type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, vocabulary, normalizer, add_prefix_space, pattern, family, keep_unmatched, ignore_merges, added_tokens, stages = Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        vocabulary: &Vocabulary,
        normalizer: Vec<StepFields>,
        add_prefix_space: bool,
        pattern: Option<&str>,
        family: Option<&str>,
        keep_unmatched: bool,
        ignore_merges: bool,
        added_tokens: Vec<AddedTokenFields>,
        stages: Vec<(String, Option<String>)>,
    ) -> PyResult<Self> {
        let model = normalizer::make(normalizer, add_prefix_space).and_then(|normalizer| {
            let splitter = Splitter::new(pattern, family, keep_unmatched)?.then(&stages)?;
            Model::new(Arc::clone(&vocabulary.0), added(added_tokens), normalizer, splitter, ignore_merges)
        });
        let model = model.map_err(|error| raise(py, error))?;
        let ints = Arc::new(SharedInts::new(model.ids()));
        Ok(Self { model, ints })
    }

    /// Of a SentencePiece model. `kinds` has a byte for each piece: its number in the model file.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (*, contents, scores, kinds, byte_fallback, prepend_scheme, prefix_before_space, remove_extra_whitespaces, escape_whitespaces,
        treat_whitespace_as_suffix, precompiled_charsmap, denormalizer_charsmap, unk_surface, added_tokens))]
    fn from_pieces(
        py: Python<'_>,
        contents: Vec<PyBackedStr>,
        scores: Vec<f32>,
        kinds: &[u8],
        byte_fallback: bool,
        prepend_scheme: &str,
        prefix_before_space: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
        precompiled_charsmap: &[u8],
        denormalizer_charsmap: &[u8],
        unk_surface: &str,
        added_tokens: Vec<AddedTokenFields>,
    ) -> PyResult<Self> {
        let pieces = contents.iter().zip(scores).zip(kinds);
        let pieces = pieces.map(|((content, score), kind)| Ok(Piece { content, score, kind: kind_of(*kind)? }));
        let rules = Rules {
            byte_fallback,
            normalizer: Settings {
                prepend: match prepend_scheme {
                    "always" => Prepend::Always,
                    "first" => Prepend::First,
                    "never" => Prepend::Never,
                    other => return Err(PyValueError::new_err(format!("prepend_scheme is {other:?}"))),
                },
                prefix_before_space,
                remove_extra_spaces: remove_extra_whitespaces,
                escape_spaces: escape_whitespaces,
                space_is_suffix: treat_whitespace_as_suffix,
                charsmap: precompiled_charsmap,
            },
            denormalizer: denormalizer_charsmap,
            unknown_surface: unk_surface,
        };
        let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
        let model = run(py, usize::MAX, || Model::from_pieces(&pieces, rules, added(added_tokens)))?;
        let ints = Arc::new(SharedInts::new(model.ids()));
        Ok(Self { model, ints })
    }

    fn policy(&self, py: Python<'_>, allowed: &Bound<'_, PyFrozenSet>, forbidden: &Bound<'_, PyFrozenSet>) -> PyResult<Policy> {
        let holds = |set: &Bound<'_, PyFrozenSet>, content: &str| set.contains(content).unwrap_or(false);
        let policy = self.model.policy(|content| holds(allowed, content), |content| holds(forbidden, content));
        policy.map(Policy).map_err(|error| raise(py, error))
    }

    /// `lengths` and `trusts`: how many characters each part of the text has, and 0 for special, 1 for text, 2 for an error.
    fn policy_of_parts(&self, py: Python<'_>, text: Text, lengths: Vec<usize>, trusts: &[u8]) -> PyResult<Policy> {
        let text = text.as_str();
        let parts = parts(text, &lengths, trusts)?;
        run(py, text.len(), || self.model.policy_of_parts(text, &parts)).map(Policy)
    }

    /// The ids of the added tokens that a text is cut at.
    fn added_ids(&self, py: Python<'_>, text: Text, policy: &Policy) -> PyResult<Vec<u32>> {
        run(py, 0, || self.model.added_ids(text.as_str(), &policy.0))
    }

    fn encode<'py>(&self, py: Python<'py>, text: Text, policy: &Policy) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<u32> = self.ids(py, &text, policy)?;
        self.ints.list(py, &ids)
    }

    /// Ids of one piece of bytes, which is not split.
    fn encode_piece(&self, py: Python<'_>, piece: &[u8], whole: bool) -> PyResult<Vec<u32>> {
        run(py, piece.len(), || {
            let mut ids = Vec::new();
            self.model.encode_piece(piece, whole, &mut ids)?;
            Ok(ids)
        })
    }

    fn encode_to_numpy<'py>(&self, py: Python<'py>, text: Text, policy: &Policy, narrow: bool) -> PyResult<Bound<'py, PyAny>> {
        Ok(if narrow {
            PyArray1::from_vec(py, self.ids::<u16>(py, &text, policy)?).into_any()
        } else {
            PyArray1::from_vec(py, self.ids::<u32>(py, &text, policy)?).into_any()
        })
    }

    fn encode_batch<'py>(&self, py: Python<'py>, texts: Vec<Text>, policy: &Policy, num_threads: usize) -> PyResult<Bound<'py, PyList>> {
        let lists = PyList::empty(py);
        let each = |ids: &[u32]| lists.append(self.ints.list(py, ids)?);
        if num_threads > 1 {
            let ids = |coder: &mut Coder<'_>, number: usize| Self::encode_text::<u32>(coder, texts[number].as_str(), policy);
            let all = run(py, usize::MAX, || parallel::map(texts.len(), num_threads, || self.model.coder(), ids))?;
            all.iter().try_for_each(|ids| each(ids))?;
        } else {
            // One text at a time: its ids are still near when the list is made of them.
            let (mut coder, mut ids) = (self.model.coder(), Vec::new());
            for text in &texts {
                ids.clear();
                let text = text.as_str();
                run(py, text.len(), || coder.encode(text, &policy.0, &mut |some| ids.extend_from_slice(some)))?;
                each(&ids)?;
            }
        }
        Ok(lists)
    }

    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Text>,
        policy: &Policy,
        num_threads: usize,
        narrow: bool,
    ) -> PyResult<Arrays<'py>> {
        let text = |number: usize| Ok(texts[number].as_str());
        let size = |number: usize| texts[number].as_str().len();
        self.arrays(py, policy, texts.len(), text, size, num_threads, narrow)
    }

    /// `data` is any bytes-like object, `offsets` an int64 array: text n is `data[offsets[n]:offsets[n + 1]]`.
    fn encode_utf8_to_numpy<'py>(
        &self,
        py: Python<'py>,
        data: PyBuffer<u8>,
        offsets: PyReadonlyArray1<'py, i64>,
        policy: &Policy,
        num_threads: usize,
        narrow: bool,
    ) -> PyResult<Arrays<'py>> {
        let bytes = contiguous(&data)?;
        let bounds = bounds(offsets.as_array().iter().copied(), bytes.len())?;
        let text = |number: usize| text_at(bytes, &bounds, number);
        let size = |number: usize| bounds[number + 1] - bounds[number];
        self.arrays(py, policy, bounds.len() - 1, text, size, num_threads, narrow)
    }

    fn count(&self, py: Python<'_>, text: Text, policy: &Policy) -> PyResult<usize> {
        let text = text.as_str();
        run(py, text.len(), || Self::count_text(&mut self.model.coder(), text, policy))
    }

    fn count_batch(&self, py: Python<'_>, texts: Vec<Text>, policy: &Policy, num_threads: usize) -> PyResult<Vec<usize>> {
        let count = |coder: &mut Coder<'_>, number: usize| Self::count_text(coder, texts[number].as_str(), policy);
        run(py, usize::MAX, || parallel::map(texts.len(), num_threads, || self.model.coder(), count))
    }

    /// `unit`: "bytes", "characters" or "stock".
    fn place(&self, py: Python<'_>, texts: Vec<Text>, policy: &Policy, num_threads: usize, unit: Unit) -> PyResult<Places> {
        let bytes = texts.iter().map(|text| text.as_str().len()).sum();
        let found = run(py, bytes, || places::encode(&self.model, &policy.0, &texts, num_threads, unit))?;
        Ok(Places::new(Arc::clone(&self.ints), found))
    }

    /// Ids and places of one text.
    fn place_one<'py>(&self, py: Python<'py>, text: Text, policy: &Policy, unit: Unit) -> PyResult<places::Lists<'py>> {
        places::lists(py, &self.model, &self.ints, &policy.0, &text, unit)
    }

    fn pretokenize<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Bound<'py, PyList>> {
        let text = text.as_str();
        let pieces = run(py, text.len(), || self.model.pieces(text))?;
        PyList::new(py, pieces)
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(ids, false)?))
    }

    /// The text behind ids, or the bytes where they are not UTF-8.
    fn decode<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.bytes(ids, true)?;
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => PyString::new(py, text).into_any(),
            Err(_) => PyBytes::new(py, &bytes).into_any(),
        })
    }

    /// Bytes held by the caches, pieces looked up so far, and how many of them had to be merged.
    fn cache_info(&self) -> (usize, u64, u64) {
        let info = self.model.cache_info();
        (info.bytes, info.lookups, info.misses)
    }
}

impl Engine {
    fn count_text(coder: &mut Coder<'_>, text: &str, policy: &Policy) -> Result<usize, EngineError> {
        let mut count = 0;
        coder.encode(text, &policy.0, &mut |ids| count += ids.len())?;
        Ok(count)
    }

    fn ids<I: Id>(&self, py: Python<'_>, text: &Text, policy: &Policy) -> PyResult<Vec<I>> {
        let text = text.as_str();
        run(py, text.len(), || Self::encode_text(&mut self.model.coder(), text, policy))
    }

    fn encode_text<I: Id>(coder: &mut Coder<'_>, text: &str, policy: &Policy) -> Result<Vec<I>, EngineError> {
        let mut ids = Vec::with_capacity(text.len() / 3 + 1);
        coder.encode(text, &policy.0, &mut |some| ids.extend(some.iter().map(|id| I::cut(*id))))?;
        Ok(ids)
    }

    #[allow(clippy::too_many_arguments)]
    fn arrays<'py, 't>(
        &self,
        py: Python<'py>,
        policy: &Policy,
        texts: usize,
        text: impl Fn(usize) -> Result<&'t str, EngineError> + Sync + Send,
        size: impl Fn(usize) -> usize + Send,
        threads: usize,
        narrow: bool,
    ) -> PyResult<Arrays<'py>> {
        Ok(if narrow {
            run(py, usize::MAX, || ragged::encode::<u16>(&self.model, &policy.0, texts, text, size, threads))?.into_arrays(py)
        } else {
            run(py, usize::MAX, || ragged::encode::<u32>(&self.model, &policy.0, texts, text, size, threads))?.into_arrays(py)
        })
    }

    fn bytes(&self, ids: &Bound<'_, PyAny>, is_text: bool) -> PyResult<Vec<u8>> {
        let py = ids.py();
        let mut bytes = Vec::with_capacity(ids.len().unwrap_or(0) * 4);
        if let Ok(array) = ids.extract::<PyReadonlyArray1<'_, u32>>() {
            if let Ok(ids) = array.as_slice() {
                run(py, 4 * ids.len(), || self.model.decode(ids, is_text, &mut bytes))?;
                return Ok(bytes);
            }
        }
        let ids = read_ids(ids)?;
        run(py, 4 * ids.len(), || self.model.decode(&ids, is_text, &mut bytes))?;
        Ok(bytes)
    }
}

fn added(tokens: Vec<AddedTokenFields>) -> Vec<AddedToken> {
    let token = |(content, id, special, single_word, lstrip, rstrip, normalized)| AddedToken {
        content,
        id,
        special,
        single_word,
        lstrip,
        rstrip,
        normalized,
    };
    tokens.into_iter().map(token).collect()
}

fn kind_of(number: u8) -> PyResult<Kind> {
    Ok(match number {
        1 => Kind::Normal,
        2 => Kind::Unknown,
        3 => Kind::Control,
        4 => Kind::UserDefined,
        5 => Kind::Unused,
        6 => Kind::Byte,
        _ => return Err(PyValueError::new_err(format!("no kind of piece has the number {number}"))),
    })
}

/// Where parts end, in bytes, and their trust.
fn parts(text: &str, lengths: &[usize], trusts: &[u8]) -> PyResult<Vec<(usize, Trust)>> {
    let (mut parts, mut end) = (Vec::with_capacity(lengths.len()), 0);
    for (&length, trust) in lengths.iter().zip(trusts) {
        let rest = text.get(end..).unwrap_or_default();
        end += rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        parts.push((
            end,
            match trust {
                0 => Trust::Special,
                1 => Trust::Text,
                2 => Trust::Refuse,
                other => return Err(PyValueError::new_err(format!("no trust has the number {other}"))),
            },
        ));
    }
    if lengths.len() != trusts.len() || end != text.len() {
        return Err(PyValueError::new_err("the parts must make up the text"));
    }
    Ok(parts)
}

/// The bytes of a buffer that is one block of memory.
pub fn contiguous(data: &PyBuffer<u8>) -> PyResult<&[u8]> {
    if !data.is_c_contiguous() {
        return Err(PyValueError::new_err("the data must be contiguous bytes"));
    }
    if data.item_count() == 0 {
        return Ok(&[]);
    }
    // SAFETY: the buffer is contiguous and holds `item_count` bytes for as long as `data` lives. A writable one could be changed by
    // another thread meanwhile; the caller is told not to, as everywhere in numpy.
    Ok(unsafe { std::slice::from_raw_parts(data.buf_ptr().cast(), data.item_count()) })
}

/// One of several texts that lie end to end. An error naming it if it is not UTF-8.
pub fn text_at<'t>(bytes: &'t [u8], bounds: &[usize], number: usize) -> Result<&'t str, EngineError> {
    let (start, end) = (bounds[number], bounds[number + 1]);
    as_text(&bytes[start..end]).map_err(|error| EngineError::NotUtf8 { text: number, at: start + error.valid_up_to() })
}

/// Offsets that ascend and stay within the data.
pub fn bounds(offsets: impl Iterator<Item = i64>, length: usize) -> PyResult<Vec<usize>> {
    let bounds: Vec<usize> = offsets
        .map(|offset| usize::try_from(offset).map_err(|_| PyValueError::new_err(format!("offset {offset} is negative"))))
        .collect::<PyResult<_>>()?;
    if bounds.is_empty() || !bounds.is_sorted() || bounds.last().is_some_and(|last| *last > length) {
        let shown = format!("offsets must ascend, hold at least one number, and end within the {length} bytes of data");
        return Err(PyValueError::new_err(shown));
    }
    Ok(bounds)
}
