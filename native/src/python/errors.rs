//! From the engine's errors to Python's.

use pyo3::{exceptions::PyRuntimeError, intern, prelude::*};

use crate::error::EngineError;

/// The exception of the same meaning, from `hf_bpe.errors`.
pub fn raise(py: Python<'_>, error: EngineError) -> PyErr {
    let class = match &error {
        EngineError::Pattern { .. } | EngineError::PatternLimit { .. } => intern!(py, "PatternError"),
        EngineError::DisallowedSpecial(_) => intern!(py, "DisallowedSpecialTokenError"),
        EngineError::UnknownId(_) => intern!(py, "UnknownTokenError"),
        EngineError::Spec(_) | EngineError::Thread(_) | EngineError::Memory(_) | EngineError::TooManyMerges { .. } => {
            intern!(py, "HfBpeError")
        }
        EngineError::TooManySymbols { .. } | EngineError::TooOften(_) | EngineError::TooFrequent { .. } | EngineError::NotUtf8 { .. } => {
            intern!(py, "CorpusError")
        }
        EngineError::Interrupted => return PyErr::take(py).unwrap_or_else(|| PyRuntimeError::new_err("interrupted")),
    };
    let made = py.import(intern!(py, "hf_bpe.errors")).and_then(|errors| errors.getattr(class)?.call1((error.to_string(),)));
    made.map_or_else(|failure| failure, |exception| PyErr::from_value(exception))
}

/// Below this many bytes, letting other threads run costs more than the work itself.
const DETACH_FROM: usize = 4096;

/// Runs `work` with other Python threads running beside it when it is long enough to be worth it.
pub fn run<T: Send>(py: Python<'_>, size: usize, work: impl Send + FnOnce() -> Result<T, EngineError>) -> PyResult<T> {
    let result = if size < DETACH_FROM { work() } else { py.detach(work) };
    result.map_err(|error| raise(py, error))
}
