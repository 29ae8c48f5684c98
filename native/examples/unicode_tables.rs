//! Prints the Unicode sets that split patterns may name, as JSON, from the tables of the regex-syntax crate.
//! `make unicode-tables` writes them to hf_bpe/engine/unicode_tables.json for the pure-Python engine.

#![allow(clippy::print_stdout, clippy::panic, missing_docs)] // a program whose output is the point

use regex_syntax::hir::{Class, HirKind};

const VERSION: &str = "16.0.0";

fn ranges(property: &str) -> Vec<(u32, u32)> {
    let pattern = format!(r"\p{{{property}}}");
    let hir = regex_syntax::parse(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect(),
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            text.chars().map(|c| (c as u32, c as u32)).collect()
        }
        other => panic!("{pattern} is not a class: {other:?}"),
    }
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!("{{\n\"unicode_version\": \"{VERSION}\",");
    for (index, name) in names.iter().enumerate() {
        let spans: Vec<String> = ranges(name).iter().map(|(first, last)| format!("[{first},{last}]")).collect();
        let comma = if index + 1 == names.len() { "" } else { "," };
        println!("\"{name}\": [{}]{comma}", spans.join(","));
    }
    println!("}}");
}
