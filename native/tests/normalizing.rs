//! Only what may change is shown to the crate that knows the normal forms; the result is as if all of the text had been.
#![allow(clippy::unwrap_used, missing_docs)]

use std::borrow::Cow;

use native::normalize::{Form, Normalizer, Step};
use proptest::prelude::*;
use unicode_normalization_alignments::UnicodeNormalization;

const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

fn normalizer(form: Form) -> Normalizer {
    Normalizer::new(vec![Step::Form(form)], false)
}

fn whole(form: Form, text: &str) -> String {
    match form {
        Form::Nfc => text.nfc().map(|(c, _)| c).collect(),
        Form::Nfd => text.nfd().map(|(c, _)| c).collect(),
        Form::Nfkc => text.nfkc().map(|(c, _)| c).collect(),
        Form::Nfkd => text.nfkd().map(|(c, _)| c).collect(),
    }
}

#[test]
fn every_code_point_behind_letters_and_marks_and_before_them() {
    for form in FORMS {
        let normalizer = normalizer(form);
        for character in '\0'..=char::MAX {
            // A mark of a high class, one of a low class, jamo, and the second half of a few compositions.
            let text = format!("{character}e{character}\u{316}\u{1100}{character}\u{345}{character}\u{3099} ");
            assert_eq!(normalizer.apply(&text).unwrap(), whole(form, &text), "{form:?} U+{:04X}", character as u32);
        }
    }
}

#[test]
fn normal_text_is_not_copied() {
    let texts = ["plain", "", "é ü", "Слово и дело", "日本語のテキスト", "한국어", "שָׁלוֹם", "हिन्दी", "ไทยน้ำ"];
    let normalizer = normalizer(Form::Nfc);
    for text in texts {
        let text: String = whole(Form::Nfc, text);
        assert!(matches!(normalizer.apply(&text).unwrap(), Cow::Borrowed(_)), "{text:?}");
        assert!(normalizer.apply_with_origins(&text).unwrap().is_none(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn parts_are_as_good_as_the_whole(
        text in prop::collection::vec(prop::sample::select(vec![
            "a", "e", " ", "plain text longer than a block of thirty-two bytes ", "é", "\u{301}", "\u{316}", "\u{345}", "\u{344}", "\u{f71}",
            "\u{f72}", "\u{f73}", "\u{1100}", "\u{1161}", "\u{11a8}", "가", "か", "\u{3099}", "\u{915}", "\u{93c}", "\u{958}", "\u{9c7}", "\u{9be}",
            "ﬁ", "\u{fdfa}", "豈", "\u{212b}", "\u{5b8}", "\u{5bc}", "日", "🙂", "\u{1d15e}", "\u{e000}", "\u{10ffff}",
        ]), 0..40).prop_map(|parts| parts.concat())
    ) {
        for form in FORMS {
            let normalised = normalizer(form).apply_with_origins(&text).unwrap();
            prop_assert_eq!(normalizer(form).apply(&text).unwrap(), whole(form, &text));
            if let Some(draft) = normalised {
                prop_assert_eq!(&draft.text, &whole(form, &text));
                let ends = draft.origin_of(&text, 0..draft.text.len(), false);
                prop_assert!(ends.start == 0 && ends.end <= text.len());
            }
        }
    }
}
