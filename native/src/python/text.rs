//! Python strings as UTF-8. A lone surrogate, which UTF-8 cannot hold, counts as U+FFFD, and a pair as the character it
//! means: what tiktoken does.

use pyo3::{Borrowed, intern, prelude::*, pybacked::PyBackedStr, types::PyString};

/// A text, borrowed from Python.
#[derive(Debug)]
pub struct Text(PyBackedStr);

impl Text {
    /// Its UTF-8.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let string = object.cast::<PyString>()?;
        if let Ok(text) = PyBackedStr::try_from(string.to_owned()) {
            return Ok(Self(text));
        }
        let py = object.py();
        let utf16 = string.call_method1(intern!(py, "encode"), (intern!(py, "utf-16"), intern!(py, "surrogatepass")))?;
        let mended = utf16.call_method1(intern!(py, "decode"), (intern!(py, "utf-16"), intern!(py, "replace")))?;
        Ok(Self(PyBackedStr::try_from(mended.cast_into::<PyString>()?)?))
    }
}
