//! Finds matches with one pass over the text, byte by byte, through a table of states.

use std::{hash::Hash, sync::Arc};

use hashbrown::HashSet;
use regex_automata::{
    Anchored, MatchKind,
    dfa::{Automaton as _, StartKind, dense},
    hybrid::{
        LazyStateID,
        dfa::{Cache, Config as LazyConfig, DFA},
    },
    nfa::thompson::{self, NFA, WhichCaptures},
    util::{pool::Pool, primitives::StateID, start},
};
use rustc_hash::FxBuildHasher;

use super::plan::Branch;
use crate::error::EngineError;

/// Bytes a program may take before it is made into a table.
const PROGRAM_LIMIT: usize = 16 << 20;
/// States of a program up to which all its table is made beforehand: 32 states take 0.1 ms, 800 take 23 ms.
const DENSE_UP_TO: usize = 64;
/// Bytes of states a thread keeps; when full they are forgotten and made again.
const CACHE_BYTES: usize = 4 << 20;

type CachePool = Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>>;

#[derive(Debug)]
pub(super) struct Automaton {
    table: Table,
    /// For each branch, whether it gives its last character back.
    gives_back: Arc<[bool]>,
}

#[derive(Debug)]
enum Table {
    Dense(Arc<dense::DFA<Vec<u32>>>),
    Lazy(Arc<DFA>, CachePool),
}

impl Clone for Automaton {
    fn clone(&self) -> Self {
        let table = match &self.table {
            Table::Dense(table) => Table::Dense(table.clone()),
            Table::Lazy(program, _) => Table::lazy(program.clone()),
        };
        Self { table, gives_back: self.gives_back.clone() }
    }
}

impl Table {
    fn new(program: &NFA) -> Option<Self> {
        if program.states().len() <= DENSE_UP_TO {
            let config = dense::Config::new().start_kind(StartKind::Anchored).match_kind(MatchKind::LeftmostFirst);
            return Some(Self::Dense(Arc::new(dense::Builder::new().configure(config).build_from_nfa(program).ok()?)));
        }
        let config = LazyConfig::new().match_kind(MatchKind::LeftmostFirst).cache_capacity(CACHE_BYTES).skip_cache_capacity_check(true);
        Some(Self::lazy(Arc::new(DFA::builder().configure(config).build_from_nfa(program.clone()).ok()?)))
    }

    fn lazy(program: Arc<DFA>) -> Self {
        let own = program.clone();
        Self::Lazy(program, Pool::new(Box::new(move || own.create_cache())))
    }
}

/// Where a match ends, and the branch it is of.
type Found = Option<(usize, usize)>;

impl Automaton {
    /// `None` if it would be too large.
    pub(super) fn new(branches: &[Branch]) -> Option<Self> {
        let hirs: Vec<_> = branches.iter().map(|branch| &branch.hir).collect();
        let config = thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(PROGRAM_LIMIT));
        let program = thompson::Compiler::new().configure(config).build_many_from_hir(&hirs).ok()?;
        let gives_back = branches.iter().map(|branch| branch.gives_back).collect();
        Some(Self { table: Table::new(&program)?, gives_back })
    }

    pub(super) fn is_dense(&self) -> bool {
        matches!(self.table, Table::Dense(_))
    }

    /// Calls `visit` with each match.
    pub(super) fn for_each(&self, text: &str, visit: impl FnMut(usize, usize)) -> Result<(), EngineError> {
        match &self.table {
            Table::Dense(table) => self.walk(&mut DenseSteps(table), text, visit),
            Table::Lazy(program, caches) => self.walk(&mut LazySteps(program, &mut caches.get()), text, visit),
        }
    }

    #[inline]
    fn walk(&self, steps: &mut impl Steps, text: &str, mut visit: impl FnMut(usize, usize)) -> Result<(), EngineError> {
        let mut futile = Futile::default();
        let mut at = 0;
        while at < text.len() {
            let found = match_at(steps, text.as_bytes(), at, &mut futile);
            match found.map_err(|reason| EngineError::PatternLimit { at, reason })? {
                Some((end, branch)) => {
                    let end = if self.gives_back[branch] { end - last_width(text, end) } else { end };
                    visit(at, end);
                    at = end;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        Ok(())
    }
}

/// Bytes of the character that ends at `end`.
fn last_width(text: &str, end: usize) -> usize {
    text[..end].chars().next_back().map_or(0, char::len_utf8)
}

/// One step at a time through a table of states.
trait Steps {
    type State: Copy + Eq + Hash;
    fn start(&mut self) -> Result<Self::State, String>;
    fn next(&mut self, state: Self::State, byte: u8) -> Result<Self::State, String>;
    fn at_end(&mut self, state: Self::State) -> Result<Self::State, String>;
    /// A state after which there is more to do than to go on.
    fn is_special(&self, state: Self::State) -> bool;
    fn is_match(&self, state: Self::State) -> bool;
    fn is_dead(&self, state: Self::State) -> bool;
    fn branch(&self, state: Self::State) -> usize;
    /// States of another generation mean nothing any more.
    fn generation(&self) -> usize;
}

struct DenseSteps<'a>(&'a dense::DFA<Vec<u32>>);

impl Steps for DenseSteps<'_> {
    type State = StateID;

    fn start(&mut self) -> Result<StateID, String> {
        self.0.start_state(&start::Config::new().anchored(Anchored::Yes)).map_err(|error| error.to_string())
    }
    #[inline(always)]
    fn next(&mut self, state: StateID, byte: u8) -> Result<StateID, String> {
        Ok(self.0.next_state(state, byte))
    }
    fn at_end(&mut self, state: StateID) -> Result<StateID, String> {
        Ok(self.0.next_eoi_state(state))
    }
    #[inline(always)]
    fn is_special(&self, state: StateID) -> bool {
        self.0.is_special_state(state)
    }
    fn is_match(&self, state: StateID) -> bool {
        self.0.is_match_state(state)
    }
    fn is_dead(&self, state: StateID) -> bool {
        self.0.is_dead_state(state)
    }
    fn branch(&self, state: StateID) -> usize {
        self.0.match_pattern(state, 0).as_usize()
    }
    fn generation(&self) -> usize {
        0
    }
}

struct LazySteps<'a>(&'a DFA, &'a mut Cache);

impl Steps for LazySteps<'_> {
    type State = LazyStateID;

    #[inline(always)]
    fn start(&mut self) -> Result<LazyStateID, String> {
        let start = start::Config::new().anchored(Anchored::Yes);
        self.0.start_state(self.1, &start).map_err(|error| error.to_string())
    }
    #[inline(always)]
    fn next(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, String> {
        self.0.next_state(self.1, state, byte).map_err(|error| error.to_string())
    }
    fn at_end(&mut self, state: LazyStateID) -> Result<LazyStateID, String> {
        self.0.next_eoi_state(self.1, state).map_err(|error| error.to_string())
    }
    #[inline(always)]
    fn is_special(&self, state: LazyStateID) -> bool {
        state.is_tagged()
    }
    fn is_match(&self, state: LazyStateID) -> bool {
        state.is_match()
    }
    fn is_dead(&self, state: LazyStateID) -> bool {
        state.is_dead()
    }
    fn branch(&self, state: LazyStateID) -> usize {
        self.0.match_pattern(self.1, state, 0).as_usize()
    }
    fn generation(&self) -> usize {
        self.1.clear_count()
    }
}

/// Places from which on a state is known to find nothing, looked at every `FUTILE_STRIDE` bytes. Without them, a pattern such as
/// `\s+$|\s` reads a megabyte of spaces to its end a million times.
struct Futile<State> {
    known: HashSet<(usize, State), FxBuildHasher>,
    crossed: Vec<(usize, State)>,
    generation: usize,
}

const FUTILE_STRIDE: usize = 256;

impl<State> Default for Futile<State> {
    fn default() -> Self {
        Self { known: HashSet::default(), crossed: Vec::new(), generation: 0 }
    }
}

/// The match that starts at `at`.
#[inline(always)]
fn match_at<S: Steps>(steps: &mut S, text: &[u8], at: usize, futile: &mut Futile<S::State>) -> Result<Found, String> {
    let generation = steps.generation();
    if futile.generation != generation {
        *futile = Futile { generation, ..Futile::default() };
    }
    futile.crossed.clear();
    let mut state = steps.start()?;
    // The branch is looked up once the match is certain: at each character of a word it would take a third of the time.
    let mut found: Option<(usize, S::State)> = None;
    let mut place = at;
    'text: loop {
        let stop = text.len().min((place / FUTILE_STRIDE + 1) * FUTILE_STRIDE);
        while place < stop {
            state = steps.next(state, text[place])?;
            if steps.is_special(state) {
                if steps.is_match(state) {
                    found = Some((place, state)); // a state knows of a match one byte late
                } else if steps.is_dead(state) {
                    break 'text;
                }
            }
            place += 1;
        }
        if steps.generation() != generation {
            return match_slowly(steps, text, at);
        }
        if place == text.len() {
            state = steps.at_end(state)?;
            if steps.is_match(state) {
                found = Some((place, state));
            }
            break;
        }
        if futile.known.contains(&(place, state)) {
            break;
        }
        futile.crossed.push((place, state));
    }
    if steps.generation() != generation {
        return match_slowly(steps, text, at);
    }
    let end = found.map_or(at, |(end, _)| end);
    futile.known.extend(futile.crossed.iter().filter(|(place, _)| *place > end));
    Ok(found.map(|(end, state)| (end, steps.branch(state))))
}

/// The same, when states were forgotten meanwhile: notes nothing down but what is certain.
#[cold]
fn match_slowly<S: Steps>(steps: &mut S, text: &[u8], at: usize) -> Result<Found, String> {
    let mut state = steps.start()?;
    let mut found = None;
    for (place, byte) in text.iter().enumerate().skip(at) {
        state = steps.next(state, *byte)?;
        if steps.is_match(state) {
            found = Some((place, steps.branch(state)));
        } else if steps.is_dead(state) {
            return Ok(found);
        }
    }
    state = steps.at_end(state)?;
    Ok(if steps.is_match(state) { Some((text.len(), steps.branch(state))) } else { found })
}
