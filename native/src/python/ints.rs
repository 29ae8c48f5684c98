//! Python ints for ids and back, without making an object for every id.

use pyo3::{
    exceptions::PyOverflowError,
    ffi,
    prelude::*,
    types::{PyInt, PyList},
};

use super::{
    errors::raise,
    shared::{Shared, list_of},
};
use crate::error::EngineError;

/// Ids up to here get an int that all lists share; their pointers take 8 MiB if the vocabulary is that large.
const MOST_SHARED: usize = 1 << 20;
/// How far ahead pointers are called for, and half as far what they point to.
const AHEAD: usize = 16;

/// Ints by id.
#[derive(Debug)]
pub struct SharedInts(Shared);

impl SharedInts {
    /// For ids below `ids`.
    pub fn new(ids: usize) -> Self {
        Self(Shared::new(ids.min(MOST_SHARED)))
    }

    /// A list of ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let Self(shared) = self;
        list_of(
            py,
            ids.iter().enumerate().map(|(at, &id)| {
                if let Some(&soon) = ids.get(at + AHEAD) {
                    shared.prefetch_slot(soon as usize);
                }
                if let Some(&sooner) = ids.get(at + AHEAD / 2) {
                    shared.prefetch_object(sooner as usize);
                }
                shared.get(py, id as usize, || Ok(PyInt::new(py, id).into_any()))
            }),
        )
    }
}

/// Ids out of any iterable of integers.
pub fn read_ids(ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    match ids.cast::<PyList>() {
        Ok(list) => list.iter().map(|id| if id.is_exact_instance_of::<PyInt>() { exact_id(&id) } else { as_id(&id) }).collect(),
        Err(_) => ids.try_iter()?.map(|id| as_id(&id?)).collect(),
    }
}

/// An id out of an object that is an int and of no subclass. Decoding a list spends most of its time here.
#[inline]
fn exact_id(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    // SAFETY: `value` is an int, which it keeps alive. -1 may also mean an overflow, whose exception `as_id` replaces.
    let number = unsafe { ffi::PyLong_AsLong(value.as_ptr()) };
    u32::try_from(number).or_else(|_| {
        drop(PyErr::take(value.py()));
        as_id(value)
    })
}

/// An id out of a Python integer; one that no vocabulary can hold is unknown rather than an overflow.
fn as_id(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    value.extract::<u32>().map_err(|error| {
        let py = value.py();
        if !error.is_instance_of::<PyOverflowError>(py) {
            return error;
        }
        raise(py, EngineError::UnknownId(value.to_string()))
    })
}
