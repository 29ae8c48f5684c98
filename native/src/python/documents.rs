//! What Python calls to find the documents in blocks of a corpus. Like `python`, it holds no algorithm.

use pyo3::{buffer::PyBuffer, exceptions::PyValueError, prelude::*, types::PyBytes};

use crate::{jsonl, utf8};

/// data, offsets, ends, lines, bad lines; see `native.pyi`.
type Extracted<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<(i64, String)>);

/// Numbers as the bytes of a numpy array of int64.
fn int64<'py>(py: Python<'py>, numbers: &[i64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, numbers.len() * 8, |bytes| {
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })
}

#[pyfunction]
fn jsonl_texts<'py>(py: Python<'py>, block: &[u8], field: &str) -> PyResult<Extracted<'py>> {
    let found = py.detach(|| jsonl::extract(block, field));
    let bad = found.bad.into_iter().map(|bad| (bad.line, bad.reason)).collect();
    Ok((PyBytes::new(py, &found.data), int64(py, &found.offsets)?, int64(py, &found.ends)?, int64(py, &found.lines)?, bad))
}

#[pyfunction]
fn invalid_utf8(py: Python<'_>, data: &[u8], offsets: PyBuffer<i64>) -> PyResult<Vec<(usize, usize)>> {
    let offsets = offsets.to_vec(py)?;
    let found = py.detach(|| utf8::invalid_documents(data, &offsets));
    let found = found.ok_or_else(|| PyValueError::new_err("offsets must rise, and stay within the data"))?;
    Ok(found.into_iter().map(|invalid| (invalid.document, invalid.at)).collect())
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(jsonl_texts, module)?)?;
    module.add_function(wrap_pyfunction!(invalid_utf8, module)?)
}
