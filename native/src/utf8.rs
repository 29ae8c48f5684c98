//! Which texts are UTF-8.

use std::str::Utf8Error;

/// The text that some bytes are, or where they are none.
#[inline]
pub fn as_text(bytes: &[u8]) -> Result<&str, Utf8Error> {
    simdutf8::basic::from_utf8(bytes).or_else(|_| std::str::from_utf8(bytes)) // the first does not say where
}

/// The first byte of a document that is not UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The document's number in the batch.
    pub document: usize,
    /// Where in the document, in bytes.
    pub at: usize,
}

/// The documents that are not UTF-8 on their own. Document `n` is `data[offsets[n]..offsets[n + 1]]`.
///
/// Checking the whole at once is what makes it fast: documents are looked at one by one only if something is wrong, or one of
/// them begins in the middle of a character. Returns None if the offsets fall, or lead out of the data.
pub fn invalid_documents(data: &[u8], offsets: &[i64]) -> Option<Vec<Invalid>> {
    let places: Vec<usize> = offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect::<Option<_>>()?;
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return None;
    };
    if places.windows(2).any(|pair| pair[0] > pair[1]) || last > data.len() {
        return None;
    }
    if let Ok(text) = as_text(&data[first..last])
        && places.iter().all(|place| text.is_char_boundary(place - first))
    {
        return Some(Vec::new());
    }
    let documents = places.windows(2).enumerate();
    let invalid = documents.filter_map(|(document, pair)| {
        let error = std::str::from_utf8(&data[pair[0]..pair[1]]).err()?;
        Some(Invalid { document, at: error.valid_up_to() })
    });
    Some(invalid.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_batch_has_none() {
        assert_eq!(invalid_documents("aé中".as_bytes(), &[0, 1, 3, 3, 6]), Some(vec![]));
    }

    #[test]
    fn a_character_cut_by_a_border_is_wrong_on_both_sides() {
        let found = invalid_documents("é".as_bytes(), &[0, 1, 2]);
        assert_eq!(found, Some(vec![Invalid { document: 0, at: 0 }, Invalid { document: 1, at: 0 }]));
    }

    #[test]
    fn bytes_outside_all_documents_do_not_matter() {
        assert_eq!(invalid_documents(b"\xff ok \xff", &[1, 5]), Some(vec![]));
    }

    #[test]
    fn offsets_that_make_no_sense_are_refused() {
        for offsets in [&[][..], &[0, 4], &[2, 1], &[-1, 2]] {
            assert_eq!(invalid_documents(b"abc", offsets), None);
        }
    }
}
