//! One string field out of each line of JSON, decoded to UTF-8 and laid end to end.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Deserializer, Error};

use crate::utf8::as_text;

/// The documents of a block of lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// All texts, end to end, UTF-8.
    pub data: Vec<u8>,
    /// Document `n` is `data[offsets[n]..offsets[n + 1]]`.
    pub offsets: Vec<i64>,
    /// Where in the block the line of each document ends, its line break included.
    pub ends: Vec<i64>,
    /// The number in the block, from 0, of each document's line.
    pub lines: Vec<i64>,
    /// Lines without a document.
    pub bad: Vec<BadLine>,
}

/// A line that gives no document, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number in the block, from 0.
    pub line: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// Takes the text of `field` out of each line. Blank lines hold no document and are not bad.
///
/// What counts as JSON is what RFC 8259 says. Surrogate escapes are joined to the character they mean, a lone one becomes
/// U+FFFD. A line with two such fields is bad: one of the texts would be lost.
pub fn extract(block: &[u8], field: &str) -> Documents {
    let mut documents = Documents { data: Vec::with_capacity(block.len()), offsets: vec![0], ..Documents::default() };
    // One check of the whole is several times faster than one of each line.
    let valid = as_text(block).ok();
    let mut end = 0;
    for line in 0.. {
        let start = end;
        if start == block.len() {
            break;
        }
        end = memchr::memchr(b'\n', &block[start..]).map_or(block.len(), |at| start + at + 1);
        let text = match valid {
            Some(valid) => Ok(&valid[start..end]),
            None => std::str::from_utf8(&block[start..end]).map_err(|error| {
                let at = error.valid_up_to();
                format!("not UTF-8: byte 0x{:02X} at column {}", block[start + at], at + 1)
            }),
        };
        let before = documents.data.len();
        match text.and_then(|text| text_of(text, field, &mut documents.data)) {
            Ok(false) => {}
            Ok(true) => {
                documents.offsets.push(documents.data.len() as i64);
                documents.ends.push(end as i64);
                documents.lines.push(line);
            }
            Err(reason) => {
                documents.data.truncate(before);
                documents.bad.push(BadLine { line, reason });
            }
        }
    }
    documents
}

/// Appends the text of one line; false for a blank one.
fn text_of(line: &str, field: &str, data: &mut Vec<u8>) -> Result<bool, String> {
    let line = line.trim_end_matches([' ', '\t', '\r', '\n']);
    if line.trim_start_matches([' ', '\t', '\r']).is_empty() {
        return Ok(false);
    }
    // Strings are read as bytes below, which lets raw control characters pass; JSON forbids them in strings.
    if line.bytes().fold(false, |found, byte| found | (byte < b' ')) {
        serde_json::from_str::<IgnoredAny>(line).map_err(|error| explain(&error))?;
    }
    let before = data.len();
    let mut reader = Deserializer::from_str(line);
    let found = Record { field, data }.deserialize(&mut reader).and_then(|found| reader.end().map(|()| found));
    match found {
        Ok(true) => {
            mend_surrogates(&mut data[before..]);
            Ok(true)
        }
        Ok(false) => Err(format!("no field {field:?}")),
        Err(error) => Err(explain(&error)),
    }
}

/// The parser's message without its line number, which is always 1 here.
fn explain(error: &Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(said, _)| said);
    if error.is_data() {
        return message.to_owned();
    }
    let hint = if error.is_eof() { "; a record must be whole on its line" } else { "" };
    format!("not JSON: {message} at column {}{hint}", error.column())
}

/// A JSON object of which one field is wanted.
struct Record<'a> {
    field: &'a str,
    data: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    /// Whether the field was there.
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object on each line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(wanted) = map.next_key_seed(IsField(self.field))? {
            if wanted && found {
                return Err(A::Error::custom(format_args!("field {:?} is there twice", self.field)));
            } else if wanted {
                map.next_value_seed(Text { field: self.field, data: &mut *self.data })?;
                found = true;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A key; gives whether it is the wanted one.
struct IsField<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for IsField<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsField<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<bool, E> {
        Ok(key == self.0.as_bytes())
    }
}

/// A string; appended to `data`. Asked for as bytes, the parser keeps lone surrogates instead of refusing them.
struct Text<'a> {
    field: &'a str,
    data: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a string in field {:?}", self.field)
    }

    fn visit_bytes<E>(self, text: &[u8]) -> Result<(), E> {
        self.data.extend_from_slice(text);
        Ok(())
    }

    // Bytes are what the parser calls a list of numbers, too.
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &self))
    }
}

/// Writes U+FFFD over each lone surrogate. Only escapes can have brought one in, and it has three bytes, as U+FFFD has.
fn mend_surrogates(text: &mut [u8]) {
    let mut from = 0;
    while let Err(error) = std::str::from_utf8(&text[from..]) {
        let at = from + error.valid_up_to();
        from = text.len().min(at + 3);
        text[at..from].copy_from_slice(&"\u{FFFD}".as_bytes()[..from - at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(block: &str) -> Vec<String> {
        let found = extract(block.as_bytes(), "text");
        assert_eq!(found.bad, []);
        found.offsets.windows(2).map(|pair| String::from_utf8_lossy(&found.data[pair[0] as usize..pair[1] as usize]).into_owned()).collect()
    }

    fn reason(line: &str) -> String {
        let mut found = extract(line.as_bytes(), "text");
        assert_eq!((found.data.len(), found.bad.len()), (0, 1), "{line}");
        found.bad.remove(0).reason
    }

    #[test]
    fn places_of_documents_and_of_bad_lines() {
        let found = extract(b"{\"text\":\"a\"}\r\n\n  \nnope\n{\"x\":1,\"text\":\"\xc3\xa9\"}", "text");
        assert_eq!((found.data.as_slice(), found.offsets.as_slice()), ("aé".as_bytes(), &[0, 1, 3][..]));
        assert_eq!((found.ends.as_slice(), found.lines.as_slice()), (&[14, 42][..], &[0, 4][..]));
        assert_eq!(found.bad.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn escapes_and_surrogates() {
        assert_eq!(texts(r#"{"te\u0078t":"\u00e9\n\"\ud83d\ude00"}"#), ["é\n\"😀"]);
        assert_eq!(texts(r#"{"text":"a\ud800b"}"#), ["a\u{FFFD}b"]);
        assert_eq!(texts(r#"{"text":"\udc00\ud800"}"#), ["\u{FFFD}\u{FFFD}"]);
        assert_eq!(texts(r#"{"text":"\ud800\ud83d\ude00\udc00"}"#), ["\u{FFFD}😀\u{FFFD}"]);
        assert_eq!(texts(r#"{"other\ud800":"\ud800","text":"x"}"#), ["x"]);
    }

    #[test]
    fn other_fields_may_hold_anything() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(texts(&format!(r#"{{"meta":{deep},"n":1e999,"text":"x"}}"#)), ["x"]);
    }

    #[test]
    fn every_way_to_be_bad_has_a_reason() {
        assert_eq!(reason(r#"{"x":"a"}"#), r#"no field "text""#);
        assert_eq!(reason(r#"{"text":null}"#), r#"invalid type: null, expected a string in field "text""#);
        assert_eq!(reason(r#"{"text":5}"#), r#"invalid type: integer `5`, expected a string in field "text""#);
        assert_eq!(reason(r#"{"text":["a"]}"#), r#"invalid type: sequence, expected a string in field "text""#);
        assert_eq!(reason(r#"{"text":"a","text":"b"}"#), r#"field "text" is there twice"#);
        assert_eq!(reason(r#"["text"]"#), "invalid type: sequence, expected an object on each line");
        assert!(reason(r#"{"text":"a"#).starts_with("not JSON: EOF while parsing a string at column 10; a record"));
        assert!(reason(r#"{"text":"a"} x"#).starts_with("not JSON: trailing characters"));
        assert!(reason("{\"text\":\"a\tb\"}").contains("control character"));
        assert!(reason(r#"{"text":"\q"}"#).contains("invalid escape"));
        assert!(reason(r#"{"n":NaN,"text":"a"}"#).starts_with("not JSON: expected value at column 6"));
    }

    #[test]
    fn bytes_that_are_not_utf8_spoil_their_line_only() {
        let found = extract(b"{\"text\":\"\xff\"}\n{\"text\":\"ok\"}\n", "text");
        assert_eq!(found.data, b"ok");
        assert_eq!(found.bad, [BadLine { line: 0, reason: "not UTF-8: byte 0xFF at column 10".to_owned() }]);
    }
}
