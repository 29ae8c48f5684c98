//! Vocabularies, for Python: as a dict and a tuple only where somebody asks.

use std::sync::Arc;

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyTuple},
};

use super::errors::{raise, run};
use crate::vocabulary;

/// Tokens and merges, built once and shared by a spec and its engines.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
pub struct Vocabulary(pub Arc<vocabulary::Vocabulary>);

#[pymethods]
impl Vocabulary {
    #[new]
    fn new(py: Python<'_>, vocab: &Bound<'_, PyDict>, merges: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let vocab: Vec<(Bound<'_, PyBytes>, u32)> =
            vocab.iter().map(|(token, id)| Ok((token.cast_into::<PyBytes>()?, id.extract()?))).collect::<PyResult<_>>()?;
        let vocab: Vec<(&[u8], u32)> = vocab.iter().map(|(token, id)| (token.as_bytes(), *id)).collect();
        let merges: Vec<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)> = merges.iter().map(|pair| pair.extract()).collect::<PyResult<_>>()?;
        let merges: Vec<(&[u8], &[u8])> = merges.iter().map(|(left, right)| (left.as_bytes(), right.as_bytes())).collect();
        let made = vocabulary::Vocabulary::new(&vocab, &merges);
        made.map(|vocabulary| Self(Arc::new(vocabulary))).map_err(|error| raise(py, error))
    }

    #[staticmethod]
    fn from_rank_file(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let vocabulary = run(py, content.len(), || vocabulary::Vocabulary::from_rank_file(content))?;
        Ok(Self(Arc::new(vocabulary)))
    }

    /// Token bytes -> id, in the order of ids.
    fn vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut entries: Vec<(u32, &[u8])> = self.0.ids.iter().copied().zip(self.0.spellings.iter()).collect();
        entries.sort_unstable();
        let vocab = PyDict::new(py);
        entries.into_iter().try_for_each(|(id, token)| vocab.set_item(PyBytes::new(py, token), id))?;
        Ok(vocab)
    }

    /// Pairs of token bytes, best rank first.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tokens: Vec<Bound<'py, PyBytes>> = self.0.spellings.iter().map(|token| PyBytes::new(py, token)).collect();
        let pairs = self.0.merges().iter().map(|merge| (&tokens[merge.left as usize], &tokens[merge.right as usize]));
        PyTuple::new(py, pairs.collect::<Vec<_>>())
    }

    /// The id of a token, or None.
    fn token_id(&self, token: &[u8]) -> Option<u32> {
        self.0.spellings.find(token).map(|symbol| self.0.ids[symbol as usize])
    }

    /// The bytes of a token, or None. Looks at every id.
    fn token_bytes<'py>(&self, py: Python<'py>, token_id: i64) -> Option<Bound<'py, PyBytes>> {
        let symbol = self.0.ids.iter().position(|id| i64::from(*id) == token_id)?;
        Some(PyBytes::new(py, self.0.spellings.get(symbol as u32)))
    }

    /// The largest id + 1.
    #[getter]
    fn n_vocab(&self) -> u64 {
        self.0.ids.iter().max().map_or(0, |id| u64::from(*id) + 1)
    }

    /// Made by `from_rank_file`.
    #[getter]
    fn is_by_rank(&self) -> bool {
        self.0.is_by_rank()
    }

    /// How many tokens merging never makes, where that was found out.
    #[getter]
    fn unreachable(&self) -> usize {
        self.0.unreachable().len()
    }

    fn __len__(&self) -> usize {
        self.0.ids.len()
    }
}
