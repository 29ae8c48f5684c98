//! Generates the character-class table of `src/unicode.rs` from the Unicode tables of the regex-syntax crate, so that the
//! hand-written splitters and the regular-expression engine can never disagree about what a letter is.

use std::{env, error::Error, fs, path::Path};

use regex_syntax::hir::{Class, HirKind};

/// Class number -> the set it stands for. The order is the numbering in `src/unicode.rs`; later entries win.
const CLASSES: [(u8, &str); 8] = [
    (1, r"[\p{Lu}\p{Lt}]"),
    (2, r"\p{Ll}"),
    (3, r"[\p{Lm}\p{Lo}]"),
    (4, r"\p{N}"),
    (5, r"\p{M}"),
    (6, r"[\p{P}\p{S}]"),
    (7, r"\s"),
    (8, r"[\r\n]"),
];
const CODE_POINTS: usize = 0x11_0000;
const BLOCK: usize = 128;

fn main() -> Result<(), Box<dyn Error>> {
    let mut class_of = vec![0u8; CODE_POINTS];
    for (number, set) in CLASSES {
        for (first, last) in members(set)? {
            class_of[first as usize..=last as usize].fill(number);
        }
    }

    // `split::classes` knows these by their first byte.
    if class_of[0x5000..0x9000].iter().any(|class| *class != 3) {
        return Err("not all of U+5000 to U+8FFF are letters without case any more".into());
    }

    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut index: Vec<u8> = Vec::new();
    for block in class_of.chunks(BLOCK) {
        let place = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        index.push(u8::try_from(place)?);
    }
    let words = members(r"\w")?;
    let generated = format!(
        "static WORDS: [(u32, u32); {}] = {words:?};\nstatic BLOCK_OF: [u8; {}] = {index:?};\nstatic BLOCKS: [[u8; {BLOCK}]; {}] = {blocks:?};\n",
        words.len(),
        index.len(),
        blocks.len(),
    );
    fs::write(Path::new(&env::var("OUT_DIR")?).join("classes.rs"), generated)?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

/// The code points of a set, as (first, last) in ascending order.
fn members(set: &str) -> Result<Vec<(u32, u32)>, Box<dyn Error>> {
    let hir = regex_syntax::parse(set)?;
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        return Err(format!("{set} is not a class of characters").into());
    };
    Ok(class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect())
}
