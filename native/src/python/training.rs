//! The trainer, for Python.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};

use super::{
    errors::{raise, run},
    normalizer::{self, StepFields},
    text::Text,
};
use crate::{
    error::EngineError,
    split::Splitter,
    train::{self, Limits, Ties, Words, WordsView},
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

    /// The arrays of `Words`.
    fn take_words<'py>(&mut self, py: Python<'py>) -> WordArrays<'py> {
        let Words { bytes, bounds, counts } = py.detach(|| self.0.take_words());
        (PyArray1::from_vec(py, bytes), PyArray1::from_vec(py, bounds), PyArray1::from_vec(py, counts))
    }
}

/// Words end to end, where each begins and the last ends, how often each was seen.
type WordArrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Merges of counted words.
#[pyfunction]
#[pyo3(signature = (words, num_merges, *, min_frequency, max_token_length, first_seen, progress, start = Vec::new(), forbids = None))]
#[allow(clippy::too_many_arguments)]
pub fn learn_merges(
    py: Python<'_>,
    words: (PyReadonlyArray1<'_, u8>, PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, i64>),
    num_merges: usize,
    min_frequency: i64,
    max_token_length: Option<usize>,
    first_seen: bool,
    progress: &Bound<'_, PyAny>,
    start: Vec<(u32, u32)>,
    forbids: Option<Py<PyAny>>,
) -> PyResult<Vec<(u32, u32)>> {
    let (bytes, bounds, counts) = (words.0.as_slice()?, words.1.as_slice()?, words.2.as_slice()?);
    let limits = Limits { merges: num_merges, min_frequency, max_token_length: max_token_length.unwrap_or(usize::MAX) };
    let ties = if first_seen { Ties::FirstSeen } else { Ties::LowestIds };
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
    run(py, usize::MAX, move || train::learn_merges(WordsView::new(bytes, bounds, counts)?, limits, ties, &start, forbids, tell))
}
