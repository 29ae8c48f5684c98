//! A pattern as an ordered list of branches without look-around, each of which an automaton can run.
//!
//! What a backtracking engine tries in order, a leftmost-first automaton tries at once with the same preference; so plain
//! branches are taken over as they are. Two constructs need a proof each:
//!
//! - A look-ahead at the end of a branch, `R(?!C)` with one character `C`: it holds at the end of the text, or before a character
//!   that is not a `C`. It becomes the branches `R\z` and `R[^C]`, the second of which gives its last character back. Their order
//!   is right if `R` tries its possible ends longest first: the end of the text is the longest, and among the others both
//!   prefer the same. Where that order is not certain, the pattern is not taken.
//! - A possessive repeat `X++K`: the same as `X+K` if no `K` starts with an `X` (giving back an `X` leaves `K` nothing to match),
//!   or if `K` cannot fail. Before a look-ahead it means that the next character is no `X`.
//!
//! Everything else (look-behind, longer look-aheads, atomic groups of more than a repeated character, what can match nothing)
//! is left to backtracking.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class, ClassUnicode, Dot, Hir, HirKind, Look, Repetition};

/// A pattern to be matched where all before it in the list do not.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) hir: Hir,
    /// The last character of the match is looked at, not taken.
    pub(super) gives_back: bool,
}

/// The branches of a pattern, or `None` where it is not certain that they would mean the same.
pub(super) fn branches_of(pattern: &str) -> Option<Vec<Branch>> {
    let tree = Expr::parse_tree(pattern).ok()?;
    if tree.contains_subroutines {
        return None;
    }
    let mut branches = Vec::new();
    add_branches(&tree.expr, &mut branches)?;
    let takes_text = |branch: &Branch| branch.hir.properties().minimum_len() > Some(usize::from(branch.gives_back));
    branches.iter().all(takes_text).then_some(branches)
}

fn add_branches(expr: &Expr, branches: &mut Vec<Branch>) -> Option<()> {
    match expr {
        Expr::Alt(alternatives) => alternatives.iter().try_for_each(|each| add_branches(each, branches)),
        Expr::Group(inner) => add_branches(inner, branches),
        _ => {
            branches.extend(branch(expr, true)?);
            Some(())
        }
    }
}

/// What must come next for a look-ahead to hold: one of these.
#[derive(Default)]
struct Ahead {
    end: bool,
    /// A character of this set, the last of the text.
    last: Option<ClassUnicode>,
    character: Option<ClassUnicode>,
}

/// A branch of the pattern, as one or several of the automaton. `whole`: nothing of the pattern follows it.
fn branch(expr: &Expr, whole: bool) -> Option<Vec<Branch>> {
    let mut parts = flatten(expr);
    let mut ahead = None;
    if let Some(Expr::LookAround(inner, look)) = parts.last() {
        ahead = Some(look_ahead(inner, *look)?);
        parts.pop();
    }
    // From the right, for a possessive repeat is judged by what follows it.
    let mut follow: Vec<Hir> = Vec::new();
    while let Some(part) = parts.pop() {
        let hir = match (part, parts.last()) {
            (Expr::AtomicGroup(inner), _) => {
                let repeat = plain(inner)?;
                let class = greedy_repeat(&repeat)?;
                prove_possessive(&repeat, &class, &Hir::concat(follow.clone()), ahead.as_mut(), whole)?;
                repeat
            }
            // One character that is (not) of another set too.
            (_, Some(Expr::LookAround(inner, look))) => {
                let narrowed = narrow(&plain(part)?, inner, *look)?;
                parts.pop();
                narrowed
            }
            _ => plain(part)?,
        };
        follow.insert(0, hir);
    }
    let Some(ahead) = ahead else { return Some(vec![Branch { hir: Hir::concat(follow), gives_back: false }]) };
    if (ahead.last.is_some() || ahead.character.is_some()) && !tries_longest_first(&follow) {
        return None;
    }
    let end = || Hir::look(Look::End);
    let class = |class: ClassUnicode| Hir::class(Class::Unicode(class));
    // In the order of where they leave the end: at the end of the text, one character before it, anywhere.
    let endings = [
        ahead.end.then(|| (vec![end()], false)),
        ahead.last.filter(has_any).map(|last| (vec![class(last), end()], true)),
        ahead.character.filter(has_any).map(|character| (vec![class(character)], true)),
    ];
    let with = |(ending, gives_back)| Branch { hir: Hir::concat([follow.clone(), ending].concat()), gives_back };
    Some(endings.into_iter().flatten().map(with).collect())
}

/// The parts of a sequence, groups in it opened.
fn flatten(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Concat(parts) => parts.iter().flat_map(flatten).collect(),
        Expr::Group(inner) if !matches!(**inner, Expr::Alt(_)) => flatten(inner),
        _ => vec![expr],
    }
}

/// A part that a regular expression without look-around can say.
fn plain(expr: &Expr) -> Option<Hir> {
    Some(match expr {
        Expr::Empty => Hir::empty(),
        Expr::Any { newline: true, .. } => Hir::dot(Dot::AnyChar),
        Expr::Any { newline: false, crlf: false } => Hir::dot(Dot::AnyCharExceptLF),
        Expr::Assertion(Assertion::EndText) => Hir::look(Look::End),
        Expr::Literal { val, casei: false } => Hir::literal(val.as_bytes()),
        Expr::Literal { val, casei: true } => read(&format!("(?i:{})", regex_syntax::escape(val)))?,
        Expr::Delegate { inner, casei: false } => read(inner)?,
        Expr::Delegate { inner, casei: true } => read(&format!("(?i:{inner})"))?,
        Expr::Group(inner) => plain(inner)?,
        Expr::Alt(alternatives) => Hir::alternation(alternatives.iter().map(plain).collect::<Option<_>>()?),
        Expr::Concat(_) => match branch(expr, false)?.pop() {
            Some(Branch { hir, gives_back: false }) => hir,
            _ => return None,
        },
        Expr::Repeat { child, lo, hi, greedy } => {
            let sub = plain(child)?;
            // Engines differ on when to stop repeating nothing.
            if sub.properties().minimum_len() == Some(0) && *hi > 1 {
                return None;
            }
            let max = if *hi == usize::MAX { None } else { Some(u32::try_from(*hi).ok()?) };
            Hir::repetition(Repetition { min: u32::try_from(*lo).ok()?, max, greedy: *greedy, sub: Box::new(sub) })
        }
        _ => return None,
    })
}

fn read(fragment: &str) -> Option<Hir> {
    regex_syntax::parse(fragment).ok()
}

/// The set of a part that is one character.
fn one_character(hir: &Hir) -> Option<ClassUnicode> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        // Small sets are made bytes of.
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let only = characters.next()?;
            characters.next().is_none().then(|| single(only))
        }
        _ => None,
    }
}

fn single(character: char) -> ClassUnicode {
    ClassUnicode::new([regex_syntax::hir::ClassUnicodeRange::new(character, character)])
}

/// The set of a greedy repeat of one character; one character is a repeat of itself.
fn greedy_repeat(hir: &Hir) -> Option<ClassUnicode> {
    match hir.kind() {
        HirKind::Repetition(repeat) if repeat.greedy => one_character(&repeat.sub),
        _ => one_character(hir),
    }
}

fn is_unlimited(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Repetition(repeat) if repeat.max.is_none())
}

fn has_any(class: &ClassUnicode) -> bool {
    !class.ranges().is_empty()
}

fn disjoint(class: &ClassUnicode, other: &ClassUnicode) -> bool {
    let mut both = class.clone();
    both.intersect(other);
    !has_any(&both)
}

fn look_ahead(inner: &Expr, look: LookAround) -> Option<Ahead> {
    if look == LookAround::LookAhead {
        let mut ahead = Ahead::default();
        add_ahead(inner, &mut ahead)?;
        return Some(ahead);
    }
    let mut others = one_character(&plain(inner)?).filter(|_| look == LookAround::LookAheadNeg)?;
    others.negate();
    Some(Ahead { end: true, last: None, character: Some(others) })
}

fn add_ahead(inner: &Expr, ahead: &mut Ahead) -> Option<()> {
    match inner {
        Expr::Group(group) => return add_ahead(group, ahead),
        Expr::Alt(alternatives) => return alternatives.iter().try_for_each(|each| add_ahead(each, ahead)),
        Expr::Assertion(Assertion::EndText) => ahead.end = true,
        // `$` of Python: the end, or a line break that ends the text.
        Expr::Concat(parts) => match parts.as_slice() {
            [Expr::Repeat { child, lo: 0, hi: 1, .. }, Expr::Assertion(Assertion::EndText)] if ahead.last.is_none() => {
                ahead.end = true;
                ahead.last = Some(one_character(&plain(child)?)?);
            }
            _ => return None,
        },
        _ => {
            let mut class = one_character(&plain(inner)?)?;
            if let Some(known) = &ahead.character {
                class.union(known);
            }
            ahead.character = Some(class);
        }
    }
    Some(())
}

/// `(?!C)X` or `(?=C)X`: one character of both sets.
fn narrow(hir: &Hir, inner: &Expr, look: LookAround) -> Option<Hir> {
    let mut class = one_character(hir)?;
    let other = one_character(&plain(inner)?)?;
    match look {
        LookAround::LookAhead => class.intersect(&other),
        LookAround::LookAheadNeg => class.difference(&other),
        LookAround::LookBehind | LookAround::LookBehindNeg => return None,
    }
    Some(Hir::class(Class::Unicode(class)))
}

/// `None` unless the possessive repeat may be a greedy one; what is looked ahead at is narrowed to make it so.
fn prove_possessive(repeat: &Hir, class: &ClassUnicode, follow: &Hir, ahead: Option<&mut Ahead>, whole: bool) -> Option<()> {
    let (first, nullable) = first_of(follow)?;
    let proved = match ahead {
        // What follows cannot fail, or fails at every place at which a character has been given back.
        None if whole => disjoint(&first, class) || (nullable && follow.properties().look_set().is_empty()),
        Some(ahead) if *follow.kind() == HirKind::Empty && is_unlimited(repeat) => {
            for set in [&mut ahead.last, &mut ahead.character].into_iter().flatten() {
                set.difference(class);
            }
            true
        }
        _ => !nullable && disjoint(&first, class),
    };
    proved.then_some(())
}

/// The characters a match may start with, and whether it may be empty.
fn first_of(hir: &Hir) -> Option<(ClassUnicode, bool)> {
    Some(match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (ClassUnicode::empty(), true),
        HirKind::Literal(literal) => (single(std::str::from_utf8(&literal.0).ok()?.chars().next()?), false),
        HirKind::Class(_) => (one_character(hir)?, false),
        HirKind::Capture(capture) => first_of(&capture.sub)?,
        HirKind::Repetition(repeat) => {
            let (first, nullable) = first_of(&repeat.sub)?;
            (first, nullable || repeat.min == 0)
        }
        HirKind::Concat(parts) => {
            let mut all = ClassUnicode::empty();
            for part in parts {
                let (first, nullable) = first_of(part)?;
                all.union(&first);
                if !nullable {
                    return Some((all, false));
                }
            }
            (all, true)
        }
        HirKind::Alternation(parts) => {
            let mut all = ClassUnicode::empty();
            let mut any_nullable = false;
            for part in parts {
                let (first, nullable) = first_of(part)?;
                all.union(&first);
                any_nullable |= nullable;
            }
            (all, any_nullable)
        }
    })
}

/// Whether the possible ends of a sequence are tried longest first: each part is a greedy repeat of one character, and all but
/// the last have only one way to match, because what follows them starts with none of their characters.
fn tries_longest_first(parts: &[Hir]) -> bool {
    parts.iter().enumerate().all(|(index, part)| {
        let Some(class) = greedy_repeat(part) else { return false };
        let follow = Hir::concat(parts[index + 1..].to_vec());
        let fixed = one_character(part).is_some();
        fixed
            || *follow.kind() == HirKind::Empty
            || first_of(&follow).is_some_and(|(first, nullable)| !nullable && disjoint(&first, &class))
    })
}
