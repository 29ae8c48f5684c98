//! Python ints for ids and back, without making an object for every id.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::{
    exceptions::PyOverflowError,
    ffi,
    prelude::*,
    types::{PyInt, PyList},
};

use super::errors::raise;
use crate::{
    error::EngineError,
    memory::{prefetch, prefetch_address},
};

/// Ids up to here get an int that all lists share; their pointers take 8 MiB if the vocabulary is that large.
const MOST_SHARED: usize = 1 << 20;
/// How far ahead pointers are called for, and half as far what they point to.
const AHEAD: usize = 16;

/// Ints by id, each made when first needed and kept: a list of ids then costs a reference count per id, not an object.
#[derive(Debug)]
pub struct SharedInts {
    slots: Vec<AtomicPtr<ffi::PyObject>>,
}

impl SharedInts {
    /// For ids below `ids`.
    pub fn new(ids: usize) -> Self {
        Self { slots: std::iter::repeat_with(AtomicPtr::default).take(ids.min(MOST_SHARED)).collect() }
    }

    /// A list of ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let length = isize::try_from(ids.len())?;
        // SAFETY: a new list or null with an exception set, which `from_owned_ptr_or_err` tells apart.
        let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))? };
        for (at, &id) in ids.iter().enumerate() {
            if let Some(&soon) = ids.get(at + AHEAD) {
                prefetch(&self.slots, soon as usize);
            }
            if let Some(slot) = ids.get(at + AHEAD / 2).and_then(|id| self.slots.get(*id as usize)) {
                prefetch_address(slot.load(Ordering::Relaxed));
            }
            let int = self.int(py, id)?;
            // SAFETY: the list is new, has `ids.len()` empty places, and nobody else has seen it; the place takes over the reference.
            unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), at as isize, int) };
        }
        Ok(list.cast_into::<PyList>()?)
    }

    /// A new reference to the int of an id.
    #[inline]
    fn int(&self, py: Python<'_>, id: u32) -> PyResult<*mut ffi::PyObject> {
        let Some(slot) = self.slots.get(id as usize) else { return Ok(PyInt::new(py, id).into_ptr()) };
        let known = slot.load(Ordering::Acquire);
        if known.is_null() {
            return Ok(Self::make(py, slot, id));
        }
        // SAFETY: a slot that is not null owns a reference to an int until `self` is dropped.
        unsafe { ffi::Py_INCREF(known) };
        Ok(known)
    }

    #[cold]
    fn make(py: Python<'_>, slot: &AtomicPtr<ffi::PyObject>, id: u32) -> *mut ffi::PyObject {
        let made = PyInt::new(py, id);
        let kept = made.clone().into_ptr();
        if slot.compare_exchange(std::ptr::null_mut(), kept, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // Another thread was first (only without a global lock): this one is not shared.
            // SAFETY: `kept` is a reference that `into_ptr` gave up and no slot took.
            drop(unsafe { Bound::from_owned_ptr(py, kept) });
        }
        made.into_ptr()
    }
}

impl Drop for SharedInts {
    fn drop(&mut self) {
        Python::attach(|py| {
            for slot in &mut self.slots {
                let int = *slot.get_mut();
                if !int.is_null() {
                    // SAFETY: the slot owns this reference, and is gone after this.
                    drop(unsafe { Bound::from_owned_ptr(py, int) });
                }
            }
        });
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
