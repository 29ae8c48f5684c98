//! Vocabularies, for Python: as a dict and a tuple only where somebody asks.

use std::sync::Arc;

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict, PyFrozenSet, PyInt, PyList, PyString, PyTuple},
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

    #[staticmethod]
    fn from_spelled(
        py: Python<'_>,
        vocab: &Bound<'_, PyDict>,
        merges: &Bound<'_, PyList>,
        without: &Bound<'_, PyFrozenSet>,
    ) -> PyResult<Self> {
        let mut tokens: Vec<(Bound<'_, PyString>, u32)> = Vec::with_capacity(vocab.len());
        for (token, id) in vocab.iter() {
            if without.is_empty() || !without.contains(&token)? {
                let id = u32::try_from(id.cast_exact::<PyInt>()?.extract::<i32>()?)?;
                tokens.push((token.cast_into::<PyString>()?, id));
            }
        }
        let tokens: Vec<(&str, u32)> = tokens.iter().map(|(token, id)| Ok((token.to_str()?, *id))).collect::<PyResult<_>>()?;
        let entries: Vec<Bound<'_, PyAny>> = merges.iter().collect();
        let pairs: Vec<Merge<'_>> = entries.iter().map(Merge::of).collect::<PyResult<_>>()?;
        let pairs: Vec<(&str, &str)> = pairs.iter().map(Merge::tokens).collect::<PyResult<_>>()?;
        let made = vocabulary::Vocabulary::from_spelled(&tokens, &pairs);
        made.map(|vocabulary| Self(Arc::new(vocabulary))).map_err(|error| raise(py, error))
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

    /// The bytes of a token, or None.
    fn token_bytes<'py>(&self, py: Python<'py>, token_id: i64) -> Option<Bound<'py, PyBytes>> {
        Some(PyBytes::new(py, self.0.token(u32::try_from(token_id).ok()?)?))
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

/// A merge as files have it: two tokens with a space between them, or a list of the two.
enum Merge<'py> {
    Text(&'py Bound<'py, PyString>),
    Pair([Bound<'py, PyString>; 2]),
}

impl<'py> Merge<'py> {
    fn of(entry: &'py Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = entry.cast::<PyString>() {
            return Ok(Self::Text(text));
        }
        let pair = entry.cast::<PyList>()?;
        if pair.len() != 2 {
            return Err(PyValueError::new_err("a merge is not of two tokens"));
        }
        Ok(Self::Pair([pair.get_item(0)?.cast_into()?, pair.get_item(1)?.cast_into()?]))
    }

    fn tokens(&self) -> PyResult<(&str, &str)> {
        match self {
            Self::Pair([left, right]) => Ok((left.to_str()?, right.to_str()?)),
            // A second space would be in the right token, where it spells no byte.
            Self::Text(text) => text.to_str()?.split_once(' ').ok_or_else(|| PyValueError::new_err("a merge is not of two tokens")),
        }
    }
}
