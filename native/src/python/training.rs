//! The trainer, for Python.

use pyo3::{
    exceptions::PyRuntimeError,
    prelude::*,
    types::{PyBytes, PyDict},
};

use super::{
    errors::{raise, run},
    normalizer::{self, StepFields},
    text::Text,
};
use crate::{
    split::Splitter,
    train::{self, Limits, Ties, learn_merges},
};

/// Counts the pieces of a corpus, then learns merges from the counts.
#[pyclass(module = "hf_bpe.engine.native")]
pub struct WordCounter(Option<train::WordCounter>);

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
        counter.map(|counter| Self(Some(counter))).map_err(|error| raise(py, error))
    }

    fn add(&mut self, py: Python<'_>, texts: Vec<Text>, num_threads: usize) -> PyResult<()> {
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
        run(py, usize::MAX, move || learn_merges(&counter.into_words(), limits, Ties::LowestIds, tell))
    }
}

/// Merges of words that were counted already; of equally frequent pairs the one that stands first in them.
#[pyfunction]
pub fn learn_first_seen(py: Python<'_>, words: Vec<(Vec<u8>, i64)>, num_merges: usize) -> PyResult<Vec<(u32, u32)>> {
    let limits = Limits { merges: num_merges, min_frequency: 1, max_token_length: usize::MAX };
    let go_on = |_| Python::attach(|py| py.check_signals().map_err(|error| error.restore(py)).is_ok());
    run(py, usize::MAX, move || learn_merges(&words, limits, Ties::FirstSeen, go_on))
}

fn spent() -> PyErr {
    PyRuntimeError::new_err("this counter's counts were already taken; make a new one")
}
