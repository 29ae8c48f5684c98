//! Python objects by number, each made when first needed and kept: a list of them then costs a reference count each, not an object.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::{ffi, prelude::*};

use crate::memory::{prefetch, prefetch_address};

/// Objects that never change, in numbered slots.
#[derive(Debug)]
pub struct Shared {
    slots: Vec<AtomicPtr<ffi::PyObject>>,
}

impl Shared {
    /// For numbers below `slots`.
    pub fn new(slots: usize) -> Self {
        Self { slots: std::iter::repeat_with(AtomicPtr::default).take(slots).collect() }
    }

    /// A new reference to the object of a number, which `make` makes; one with a number too high is not kept.
    #[inline]
    pub fn get<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<*mut ffi::PyObject> {
        let Some(slot) = self.slots.get(number) else { return Ok(make()?.into_ptr()) };
        let known = slot.load(Ordering::Acquire);
        if known.is_null() {
            return Ok(Self::keep(py, slot, make()?));
        }
        // SAFETY: a slot that is not null owns a reference to an object until `self` is dropped.
        unsafe { ffi::Py_INCREF(known) };
        Ok(known)
    }

    #[cold]
    fn keep<'py>(py: Python<'py>, slot: &AtomicPtr<ffi::PyObject>, made: Bound<'py, PyAny>) -> *mut ffi::PyObject {
        let kept = made.clone().into_ptr();
        if slot.compare_exchange(std::ptr::null_mut(), kept, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // Another thread was first (only without a global lock): this one is not shared.
            // SAFETY: `kept` is a reference that `into_ptr` gave up and no slot took.
            drop(unsafe { Bound::from_owned_ptr(py, kept) });
        }
        made.into_ptr()
    }

    /// Calls for the slot of a number, which will be asked for.
    #[inline]
    pub fn prefetch_slot(&self, number: usize) {
        prefetch(&self.slots, number);
    }

    /// The same for the object in it.
    #[inline]
    pub fn prefetch_object(&self, number: usize) {
        if let Some(slot) = self.slots.get(number) {
            prefetch_address(slot.load(Ordering::Relaxed));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        Python::attach(|py| {
            for slot in &mut self.slots {
                let object = *slot.get_mut();
                if !object.is_null() {
                    // SAFETY: the slot owns this reference, and is gone after this.
                    drop(unsafe { Bound::from_owned_ptr(py, object) });
                }
            }
        });
    }
}

/// A list as long as `objects`, each of which is a new reference. Making room for it at once takes half the time of appending.
pub fn list_of(
    py: Python<'_>,
    objects: impl ExactSizeIterator<Item = PyResult<*mut ffi::PyObject>>,
) -> PyResult<Bound<'_, pyo3::types::PyList>> {
    let length = isize::try_from(objects.len())?;
    // SAFETY: a new list or null with an exception set, which `from_owned_ptr_or_err` tells apart.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))? };
    for (at, object) in (0..length).zip(objects) {
        let object = object?;
        // SAFETY: the list is new, has `length` empty places, and nobody else has seen it; the place takes over the reference.
        unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), at, object) };
    }
    Ok(list.cast_into::<pyo3::types::PyList>()?)
}
