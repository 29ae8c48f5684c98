//! Everything that touches Python: arguments in, results out, errors mapped. No algorithm lives here.

use pyo3::{
    exceptions::{PyOverflowError, PyRuntimeError},
    intern,
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
    sync::PyOnceLock,
    types::{PyBytes, PyDict, PyFrozenSet, PyInt, PyList, PyString, PyTuple},
};

use crate::{
    added::AddedToken,
    error::EngineError,
    model::{self, Model},
    parallel::share_out,
    recover,
    split::Splitter,
    train::{self, Limits, learn_merges},
    unicode,
};

/// Below this many bytes, letting other threads run costs more than the work itself.
const DETACH_FROM: usize = 4096;
/// Ids up to here get a Python int made once and shared by all lists; 2^20 of them are 16 MiB of slots.
const SHARED_INTS: usize = 1 << 20;

fn raise(py: Python<'_>, error: EngineError) -> PyErr {
    let class = match &error {
        EngineError::Pattern { .. } | EngineError::PatternLimit { .. } => intern!(py, "PatternError"),
        EngineError::DisallowedSpecial(_) => intern!(py, "DisallowedSpecialTokenError"),
        EngineError::UnknownId(_) => intern!(py, "UnknownTokenError"),
        EngineError::Spec(_) | EngineError::Thread(_) | EngineError::Memory(_) | EngineError::TooManyMerges { .. } => intern!(py, "HfBpeError"),
        EngineError::TooManySymbols { .. } => intern!(py, "CorpusError"),
        EngineError::Interrupted => return PyErr::take(py).unwrap_or_else(|| PyRuntimeError::new_err("interrupted")),
    };
    let made = py.import(intern!(py, "hf_bpe.errors")).and_then(|errors| errors.getattr(class)?.call1((error.to_string(),)));
    made.map_or_else(|failure| failure, |exception| PyErr::from_value(exception))
}

/// Runs `work` with other Python threads running beside it when it is long enough to be worth it.
fn run<T: Send>(py: Python<'_>, size: usize, work: impl Send + FnOnce() -> Result<T, EngineError>) -> PyResult<T> {
    let result = if size < DETACH_FROM { work() } else { py.detach(work) };
    result.map_err(|error| raise(py, error))
}

/// What to do with added tokens during a call; made by `Engine.policy`.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
struct Policy(model::Policy);

/// A tokenizer ready to run.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
struct Engine {
    model: Model,
    /// Python ints by id, made when first needed: a list of ids then costs a reference count per id, not an object.
    ints: Vec<PyOnceLock<Py<PyInt>>>,
}

type AddedTokenFields = (String, u32, bool, bool, bool, bool);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, vocab, merges, pattern, family, keep_unmatched, ignore_merges, added_tokens))]
    #[allow(clippy::too_many_arguments)] // one keyword argument per field of TokenizerSpec
    fn new(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: &Bound<'_, PyTuple>,
        pattern: Option<&str>,
        family: Option<&str>,
        keep_unmatched: bool,
        ignore_merges: bool,
        added_tokens: Vec<AddedTokenFields>,
    ) -> PyResult<Self> {
        let vocab: Vec<(Bound<'_, PyBytes>, u32)> =
            vocab.iter().map(|(token, id)| Ok((token.cast_into::<PyBytes>()?, id.extract()?))).collect::<PyResult<_>>()?;
        let vocab: Vec<(&[u8], u32)> = vocab.iter().map(|(token, id)| (token.as_bytes(), *id)).collect();
        let merges: Vec<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)> = merges.iter().map(|pair| pair.extract()).collect::<PyResult<_>>()?;
        let merges: Vec<(&[u8], &[u8])> = merges.iter().map(|(left, right)| (left.as_bytes(), right.as_bytes())).collect();
        let added = added_tokens.into_iter().map(|(content, id, special, single_word, lstrip, rstrip)| AddedToken {
            content,
            id,
            special,
            single_word,
            lstrip,
            rstrip,
        });
        let added: Vec<AddedToken> = added.collect();
        let ids = vocab.iter().map(|(_, id)| *id).chain(added.iter().map(|token| token.id));
        let shared = ids.max().map_or(0, |id| id as usize + 1).min(SHARED_INTS);
        let model = Splitter::new(pattern, family, keep_unmatched)
            .and_then(|splitter| Model::new(&vocab, &merges, added, splitter, ignore_merges))
            .map_err(|error| raise(py, error))?;
        Ok(Self { model, ints: std::iter::repeat_with(PyOnceLock::new).take(shared).collect() })
    }

    fn policy(&self, py: Python<'_>, allowed: &Bound<'_, PyFrozenSet>, forbidden: &Bound<'_, PyFrozenSet>) -> PyResult<Policy> {
        let holds = |set: &Bound<'_, PyFrozenSet>, content: &str| set.contains(content).unwrap_or(false);
        let policy = self.model.policy(|content| holds(allowed, content), |content| holds(forbidden, content));
        policy.map(Policy).map_err(|error| raise(py, error))
    }

    fn encode<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>, policy: &Policy) -> PyResult<Bound<'py, PyList>> {
        let text = text.to_str()?;
        let mut ids = Vec::with_capacity(text.len() / 3 + 1);
        run(py, text.len(), || self.model.encode(text, &policy.0, &mut ids))?;
        self.list(py, &ids)
    }

    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        policy: &Policy,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let all = run(py, usize::MAX, || encode_all(&self.model, &texts, &policy.0, num_threads))?;
        let lists: Vec<Bound<'py, PyList>> = all.iter().map(|ids| self.list(py, ids)).collect::<PyResult<_>>()?;
        PyList::new(py, lists)
    }

    fn count(&self, py: Python<'_>, text: &Bound<'_, PyString>, policy: &Policy) -> PyResult<usize> {
        let text = text.to_str()?;
        let mut ids = Vec::new();
        run(py, text.len(), || self.model.encode(text, &policy.0, &mut ids))?;
        Ok(ids.len())
    }

    fn pretokenize<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let text = text.to_str()?;
        let pieces = run(py, text.len(), || self.model.pieces(text))?;
        PyList::new(py, pieces.iter().map(|&(start, end)| &text[start..end]).collect::<Vec<_>>())
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let ids: Vec<u32> = match ids.cast::<PyList>() {
            Ok(list) => list.iter().map(|id| as_id(&id)).collect::<PyResult<_>>()?,
            Err(_) => ids.try_iter()?.map(|id| as_id(&id?)).collect::<PyResult<_>>()?,
        };
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        run(py, ids.len(), || self.model.decode(ids.iter().copied(), &mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Engine {
    fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, ids.iter().map(|&id| self.int(py, id)))
    }

    #[inline]
    fn int<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        match self.ints.get(id as usize) {
            Some(slot) => slot.get_or_init(py, || PyInt::new(py, id).unbind()).bind(py).clone(),
            None => PyInt::new(py, id),
        }
    }
}

/// An id out of a Python integer; one that no vocabulary can hold is unknown rather than an overflow.
fn as_id(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    value.extract::<u32>().map_err(|error| {
        let py = value.py();
        if !error.is_instance_of::<PyOverflowError>(py) {
            return error;
        }
        raise(py, EngineError::UnknownId(value.extract::<i64>().unwrap_or(i64::MAX)))
    })
}

/// Encodes each text, on up to `threads` threads.
fn encode_all(model: &Model, texts: &[PyBackedStr], policy: &model::Policy, threads: usize) -> Result<Vec<Vec<u32>>, EngineError> {
    let mut shares = vec![Vec::new(); threads.min(texts.len()).max(1)];
    share_out(texts.len(), &mut shares, |done, number| {
        let mut ids = Vec::with_capacity(texts[number].len() / 3 + 1);
        model.encode(&texts[number], policy, &mut ids)?;
        done.push((number, ids));
        Ok(())
    })?;
    let mut all = vec![Vec::new(); texts.len()];
    for (number, ids) in shares.into_iter().flatten() {
        all[number] = ids;
    }
    Ok(all)
}

/// Counts the pieces of a corpus, then learns merges from the counts.
#[pyclass(module = "hf_bpe.engine.native")]
struct WordCounter(Option<train::WordCounter>);

#[pymethods]
impl WordCounter {
    #[new]
    #[pyo3(signature = (*, pattern, family, keep_unmatched, special_tokens))]
    fn new(
        py: Python<'_>,
        pattern: Option<&str>,
        family: Option<&str>,
        keep_unmatched: bool,
        special_tokens: Vec<String>,
    ) -> PyResult<Self> {
        let counter = Splitter::new(pattern, family, keep_unmatched).and_then(|splitter| train::WordCounter::new(splitter, special_tokens));
        counter.map(|counter| Self(Some(counter))).map_err(|error| raise(py, error))
    }

    fn add(&mut self, py: Python<'_>, texts: Vec<PyBackedStr>, num_threads: usize) -> PyResult<()> {
        let counter = self.0.as_mut().ok_or_else(spent)?;
        run(py, usize::MAX, || counter.add(&texts, num_threads))
    }

    fn word_counts<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let words = self.0.take().ok_or_else(spent)?.into_words();
        let counts = PyDict::new(py);
        for (word, count) in words {
            counts.set_item(PyBytes::new(py, &word), count)?;
        }
        Ok(counts)
    }

    #[pyo3(signature = (num_merges, min_frequency, max_token_length, progress))]
    fn learn(
        &mut self,
        py: Python<'_>,
        num_merges: usize,
        min_frequency: i64,
        max_token_length: Option<usize>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(u32, u32)>> {
        let counter = self.0.take().ok_or_else(spent)?;
        let limits = Limits { merges: num_merges, min_frequency, max_token_length: max_token_length.unwrap_or(usize::MAX) };
        let progress = progress.clone().unbind();
        let tell = |done: usize| {
            Python::attach(|py| {
                let told = py.check_signals().and_then(|()| progress.call1(py, (done,)));
                told.map_err(|error| error.restore(py)).is_ok()
            })
        };
        run(py, usize::MAX, move || learn_merges(&counter.into_words(), limits, tell))
    }
}

fn spent() -> PyErr {
    PyRuntimeError::new_err("this counter's counts were already taken; make a new one")
}

/// For tokens in rank order: the (rank, length of the left part) of each reachable one, and the ranks of the others.
#[pyfunction]
fn recover_merges(py: Python<'_>, tokens: Vec<PyBackedBytes>) -> (Vec<(usize, usize)>, Vec<usize>) {
    let recovered = py.detach(|| {
        let tokens: Vec<&[u8]> = tokens.iter().map(AsRef::as_ref).collect();
        recover::recover_merges(&tokens)
    });
    (recovered.splits, recovered.unreachable)
}

/// The compiled half of hf_bpe; see `native.pyi`.
#[pymodule(gil_used = false)]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()?;
    module.add_class::<Policy>()?;
    module.add_class::<WordCounter>()?;
    crate::python_documents::register(module)?;
    module.add_function(wrap_pyfunction!(recover_merges, module)?)?;
    module.add("UNICODE_VERSION", unicode::UNICODE_VERSION)
}
