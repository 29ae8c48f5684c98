//! The trainer, for Python.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{buffer::PyBuffer, prelude::*, types::PyBytes};

use super::{
    engine::{bounds, contiguous, text_at},
    errors::{raise, run},
    normalizer::{self, StepFields},
    text::Text,
};
use crate::{
    error::EngineError,
    split::Splitter,
    train::{self, Limits, Ties, Words, WordsView, ascend, merge},
};

/// Counts the pieces of a corpus.
#[pyclass(module = "hf_bpe.engine.native")]
pub struct WordCounter(train::WordCounter);

#[pymethods]
impl WordCounter {
    #[new]
    #[pyo3(signature = (*, pattern, family, keep_unmatched, special_tokens, normalizer, add_prefix_space, stages = Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        pattern: Option<&str>,
        family: Option<&str>,
        keep_unmatched: bool,
        special_tokens: Vec<String>,
        normalizer: Vec<StepFields>,
        add_prefix_space: bool,
        stages: Vec<(String, Option<String>)>,
    ) -> PyResult<Self> {
        let counter = normalizer::make(normalizer, add_prefix_space).and_then(|normalizer| {
            let splitter = Splitter::new(pattern, family, keep_unmatched)?.then(&stages)?;
            train::WordCounter::new(normalizer, splitter, special_tokens)
        });
        counter.map(Self).map_err(|error| raise(py, error))
    }

    fn add(&mut self, py: Python<'_>, texts: Vec<Text>, num_threads: usize) -> PyResult<()> {
        run(py, usize::MAX, || self.0.add(&texts, num_threads))
    }

    fn add_utf8(&mut self, py: Python<'_>, data: PyBuffer<u8>, offsets: PyReadonlyArray1<'_, i64>, num_threads: usize) -> PyResult<()> {
        let bytes = contiguous(&data)?;
        let bounds = bounds(offsets.as_array().iter().copied(), bytes.len())?;
        run(py, bytes.len(), || {
            let texts: Result<Vec<&str>, _> = (0..bounds.len() - 1).map(|number| text_at(bytes, &bounds, number)).collect();
            self.0.add(&texts?, num_threads)
        })
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    fn absorb(&mut self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        let mut other = other.try_borrow_mut()?;
        let other = &mut other.0;
        run(py, usize::MAX, || self.0.absorb(other))
    }

    /// The arrays of `Words`.
    fn take_words<'py>(&mut self, py: Python<'py>) -> WordArrays<'py> {
        arrays(py, py.detach(|| self.0.take_words()))
    }
}

/// Words out of Python.
type GivenWords<'py> = (PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);

fn view<'w>(py: Python<'_>, words: &'w GivenWords<'_>) -> PyResult<WordsView<'w>> {
    let (bytes, bounds, counts) = (words.0.as_slice()?, words.1.as_slice()?, words.2.as_slice()?);
    WordsView::new(bytes, bounds, counts).map_err(|error| raise(py, error))
}

fn arrays(py: Python<'_>, words: Words) -> WordArrays<'_> {
    let Words { bytes, mut bounds, counts } = words;
    if bounds.is_empty() {
        bounds.push(0);
    }
    (PyArray1::from_vec(py, bytes), PyArray1::from_vec(py, bounds), PyArray1::from_vec(py, counts))
}

#[pyfunction]
fn merge_sorted_words<'py>(py: Python<'py>, parts: Vec<GivenWords<'py>>) -> PyResult<WordArrays<'py>> {
    let views = parts.iter().map(|part| view(py, part)).collect::<PyResult<Vec<_>>>()?;
    Ok(arrays(py, run(py, usize::MAX, || merge(&views))?))
}

#[pyfunction]
fn words_ascend(py: Python<'_>, words: GivenWords<'_>) -> PyResult<bool> {
    let view = view(py, &words)?;
    Ok(py.detach(|| ascend(view)))
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<WordCounter>()?;
    module.add_function(wrap_pyfunction!(learn_merges, module)?)?;
    module.add_function(wrap_pyfunction!(merge_sorted_words, module)?)?;
    module.add_function(wrap_pyfunction!(words_ascend, module)?)
}

/// Words end to end, where each begins and the last ends, how often each was seen.
type WordArrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Merges of counted words.
#[pyfunction]
#[pyo3(signature = (words, num_merges, *, min_frequency, max_token_length, ties, progress, start = Vec::new(), forbids = None))]
#[allow(clippy::too_many_arguments)]
pub fn learn_merges(
    py: Python<'_>,
    words: GivenWords<'_>,
    num_merges: usize,
    min_frequency: i64,
    max_token_length: Option<usize>,
    ties: &str,
    progress: &Bound<'_, PyAny>,
    start: Vec<(u32, u32)>,
    forbids: Option<Py<PyAny>>,
) -> PyResult<Vec<(u32, u32)>> {
    let words = view(py, &words)?;
    let limits = Limits { merges: num_merges, min_frequency, max_token_length: max_token_length.unwrap_or(usize::MAX) };
    let ties = match ties {
        "lowest ids" => Ties::LowestIds,
        "lowest characters" => Ties::LowestCharacters,
        "first seen" => Ties::FirstSeen,
        _ => return Err(raise(py, EngineError::Spec(format!("no order of ties is named {ties:?}")))),
    };
    let progress = progress.clone().unbind();
    let tell = |done: usize| {
        Python::attach(|py| {
            let told = py.check_signals().and_then(|()| progress.call1(py, (done,)));
            told.map_err(|error| error.restore(py)).is_ok()
        })
    };
    let forbids = |left: &[u8], right: &[u8]| {
        let Some(rule) = &forbids else { return Ok(false) };
        Python::attach(|py| {
            let said = rule.call1(py, (PyBytes::new(py, left), PyBytes::new(py, right))).and_then(|said| said.is_truthy(py));
            said.map_err(|error| {
                error.restore(py);
                EngineError::Interrupted
            })
        })
    };
    run(py, usize::MAX, move || train::learn_merges(words, limits, ties, &start, forbids, tell))
}
