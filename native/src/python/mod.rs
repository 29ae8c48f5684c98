//! Everything that touches Python: arguments in, results out, errors mapped. No algorithm lives here.

mod documents;
mod engine;
mod errors;
mod ints;
mod normalizer;
mod ragged;
mod spans;
mod text;
mod training;
mod vocabulary;

use pyo3::{prelude::*, pybacked::PyBackedBytes};

use self::errors::run;
use crate::{recover::recover, spellings::Spellings, split::FAMILIES, unicode};

/// (rank, length of the left part) of each reachable token, and the ranks of the others.
type RecoveredMerges = (Vec<(usize, usize)>, Vec<usize>);

/// For distinct tokens in rank order: the (rank, length of the left part) of each reachable one, and the ranks of the others.
#[pyfunction]
fn recover_merges(py: Python<'_>, tokens: Vec<PyBackedBytes>) -> PyResult<RecoveredMerges> {
    run(py, usize::MAX, || {
        // Symbols are the bytes, then the longer tokens in rank order.
        let longer: Vec<(usize, &[u8])> =
            tokens.iter().map(AsRef::as_ref).enumerate().filter(|(_, token): &(_, &[u8])| token.len() != 1).collect();
        let spellings = Spellings::bytes_and(&longer.iter().map(|(_, token)| *token).collect::<Vec<_>>())?;
        let rank = |symbol: u32| longer[symbol as usize - 256].0;
        let (pairs, unreachable) = recover(&spellings);
        let splits = pairs.merges().iter().map(|merge| (rank(merge.made), spellings.get(merge.left).len()));
        Ok((splits.collect(), unreachable.into_iter().map(rank).collect()))
    })
}

/// The compiled half of hf_bpe; see `native.pyi`.
#[pymodule(gil_used = false)]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<engine::Engine>()?;
    module.add_class::<engine::Policy>()?;
    module.add_class::<vocabulary::Vocabulary>()?;
    module.add_function(wrap_pyfunction!(recover_merges, module)?)?;
    module.add_function(wrap_pyfunction!(spans::pairs, module)?)?;
    training::register(module)?;
    documents::register(module)?;
    module.add("FAMILIES", FAMILIES)?;
    module.add("UNICODE_VERSION", unicode::UNICODE_VERSION)
}
