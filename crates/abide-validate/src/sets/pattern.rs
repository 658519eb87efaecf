//! Regular expressions as automata: matching, and finding texts that some match
//! and others do not.
//!
//! Both libraries use patterns in the syntax of RE2. Its classes `\d`, `\s`, `\w`
//! and the boundary `\b` are ASCII, and brackets do not nest.
//! Source: <https://github.com/google/re2/wiki/Syntax>.

use std::rc::Rc;
use std::sync::Arc;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, Input};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most bytes of an automaton, and of everything it is built from.
const SIZE: usize = 1 << 21;

/// The most states that a search visits.
const STATES: usize = 300_000;

/// A compiled expression, matched anywhere in a text.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// `None` if it would be too large, or if an automaton cannot express it.
    automaton: Option<dense::DFA<Vec<u32>>>,
    machine: PikeVM,
}

impl Pattern {
    /// Compiles an expression in the syntax of Rust's crate `regex`.
    pub(crate) fn new(expression: &str) -> Option<Arc<Pattern>> {
        let syntax = syntax::Config::new().utf8(false);
        let machine = PikeVM::builder()
            .syntax(syntax)
            .thompson(thompson::Config::new().nfa_size_limit(Some(SIZE)).utf8(false))
            .build(expression)
            .ok()?;
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(SIZE))
            .determinize_size_limit(Some(SIZE));
        let automaton =
            dense::Builder::new().configure(config).build_from_nfa(machine.get_nfa()).ok();
        Some(Arc::new(Pattern { automaton, machine }))
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        let input = Input::new(text).earliest(true);
        // An automaton gives up where it cannot tell, as at a boundary of words beside a letter
        // that is not ASCII.
        match self.automaton.as_ref().map(|it| it.try_search_fwd(&input)) {
            Some(Ok(found)) => found.is_some(),
            _ => self.machine.is_match(&mut self.machine.create_cache(), input),
        }
    }
}

/// The limits of the length of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LengthRange {
    /// The least length.
    pub least: u64,
    /// The greatest length, if there is a limit.
    pub most: Option<u64>,
}

impl LengthRange {
    /// Returns true if a length is within the limits.
    pub fn contains(self, length: u64) -> bool {
        self.least <= length && self.most.is_none_or(|most| length <= most)
    }

    /// The lengths within both limits.
    #[must_use]
    pub fn intersect(self, other: LengthRange) -> LengthRange {
        let most = match (self.most, other.most) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        LengthRange { least: self.least.max(other.least), most }
    }

    /// Returns true if no length is within the limits.
    pub fn is_empty(self) -> bool {
        self.most.is_some_and(|most| most < self.least)
    }
}

/// The result of a search for a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchResult {
    /// One of the shortest texts.
    Text(Vec<u8>),
    /// There is a text, but it is too long.
    Long,
    /// There is no text.
    Nothing,
    /// The search gave up.
    TooLarge,
}

/// A description of a wanted text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextSearch {
    /// Expressions, and whether they match.
    pub patterns: Vec<(Arc<Pattern>, bool)>,
    pub chars: LengthRange,
    pub bytes: LengthRange,
    /// True if it must be UTF-8, so that it has characters.
    pub utf8: bool,
}

/// The longest text that is generated.
const LONGEST: u64 = 1 << 17;

impl TextSearch {
    /// The shortest text that fits.
    pub(crate) fn find_shortest(&self) -> SearchResult {
        if self.chars.is_empty() || self.bytes.is_empty() {
            return SearchResult::Nothing;
        }
        if self.patterns.is_empty() {
            return self.plain();
        }
        let mut automata = Vec::new();
        let text = Pattern::new(r"(?s)\A.*\z").filter(|_| self.utf8);
        let own = self.patterns.iter().map(|(pattern, wanted)| (pattern, *wanted));
        for (pattern, wanted) in own.chain(text.iter().map(|text| (text, true))) {
            let Some(automaton) = &pattern.automaton else { return SearchResult::TooLarge };
            automata.push((automaton, wanted));
        }
        // Without upper bounds there are fewer states; often that is enough.
        let unbounded = |length: LengthRange| LengthRange { most: None, ..length };
        match search(&automata, unbounded(self.chars), unbounded(self.bytes)) {
            SearchResult::Text(text) if !self.measures(&text) => {
                search(&automata, self.chars, self.bytes)
            }
            found => found,
        }
    }

    /// Returns true if the text has a wanted length.
    fn measures(&self, text: &[u8]) -> bool {
        let chars = text.iter().filter(|&&byte| begins(byte)).count();
        self.bytes.contains(text.len() as u64) && self.chars.contains(chars as u64)
    }

    /// The shortest text with the wanted lengths, without patterns.
    fn plain(&self) -> SearchResult {
        let (chars, bytes) = if self.utf8 {
            let chars = self.chars.least.max(self.bytes.least.div_ceil(4));
            (chars, self.bytes.least.max(chars))
        } else {
            (self.bytes.least, self.bytes.least)
        };
        if self.utf8 && !self.chars.contains(chars) || !self.bytes.contains(bytes) {
            // There are not fewer bytes with as many characters, and fewer
            // characters do not have fewer bytes.
            return SearchResult::Nothing;
        }
        if bytes > LONGEST {
            return SearchResult::Long;
        }
        // As many plain letters as possible, the widest characters first.
        let most = self.chars.most.unwrap_or(bytes).min(bytes);
        let (mut text, mut chars, mut left) = (String::new(), most.max(chars), bytes);
        while left > 0 && chars > 0 {
            let widest = match left - (chars - 1) {
                1 => 'a',
                2 => '\u{e9}',
                3 => '\u{20ac}',
                _ => '\u{1d11e}',
            };
            text.push(widest);
            left -= widest.len_utf8() as u64;
            chars -= 1;
        }
        SearchResult::Text(text.into_bytes())
    }
}

/// Returns true if a byte begins a character.
fn begins(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Several automata that read the same text.
struct ProductAutomaton<'p> {
    automata: &'p [(&'p dense::DFA<Vec<u32>>, bool)],
    alphabet: Vec<u8>,
    states: Vec<ProductState>,
    known: FxHashMap<Vec<usize>, u32>,
}

/// A state of each automaton.
struct ProductState {
    parts: Vec<usize>,
    /// True if a text that ends here fits.
    accepted: bool,
    /// The next state for each byte of the alphabet, computed on first use; `None`
    /// if no wanted text can be reached.
    next: Option<Rc<[Option<u32>]>>,
}

/// The state of a component that has matched, whatever follows.
const MATCHED: usize = usize::MAX;
/// The state of a component that cannot match.
const DEAD: usize = usize::MAX - 1;

impl<'p> ProductAutomaton<'p> {
    /// The product in its first state, which has the number 0. `None` if an automaton
    /// gives up.
    fn new(automata: &'p [(&'p dense::DFA<Vec<u32>>, bool)]) -> Option<ProductAutomaton<'p>> {
        let config = start::Config::new().anchored(Anchored::No);
        let starts = automata.iter().map(|(it, _)| Some(it.start_state(&config).ok()?.as_usize()));
        let starts = starts.collect::<Option<Vec<usize>>>()?;
        let alphabet = collect_alphabet(automata);
        let mut product = ProductAutomaton {
            automata,
            alphabet,
            states: Vec::new(),
            known: FxHashMap::default(),
        };
        product.state(starts);
        Some(product)
    }

    fn state(&mut self, parts: Vec<usize>) -> u32 {
        if let Some(&known) = self.known.get(&parts) {
            return known;
        }
        let id = self.states.len() as u32;
        let mut all = self.automata.iter().zip(&parts);
        let accepted =
            all.all(|((automaton, wanted), &state)| accepts(automaton, state) == *wanted);
        self.known.insert(parts.clone(), id);
        self.states.push(ProductState { parts, accepted, next: None });
        id
    }

    /// The next state for each byte of the alphabet. `None` if an automaton gives up.
    fn next(&mut self, id: u32) -> Option<Rc<[Option<u32>]>> {
        let state = &self.states[id as usize];
        if let Some(next) = &state.next {
            return Some(Rc::clone(next));
        }
        let parts = state.parts.clone();
        let mut all = Vec::with_capacity(self.alphabet.len());
        for at in 0..self.alphabet.len() {
            let byte = self.alphabet[at];
            let mut next = Vec::with_capacity(parts.len());
            let mut hopeless = false;
            for ((automaton, wanted), &state) in self.automata.iter().zip(&parts) {
                let state = step(automaton, state, byte)?;
                hopeless |= state == DEAD && *wanted || state == MATCHED && !*wanted;
                next.push(state);
            }
            all.push((!hopeless).then(|| self.state(next)));
        }
        let all: Rc<[Option<u32>]> = all.into();
        self.states[id as usize].next = Some(Rc::clone(&all));
        Some(all)
    }
}

/// One step of a component. `None` if it gives up.
fn step(automaton: &dense::DFA<Vec<u32>>, state: usize, byte: u8) -> Option<usize> {
    if state >= DEAD {
        return Some(state);
    }
    let next = automaton.next_state(StateID::new_unchecked(state), byte);
    if automaton.is_match_state(next) {
        Some(MATCHED)
    } else if automaton.is_dead_state(next) {
        Some(DEAD)
    } else if automaton.is_quit_state(next) {
        None
    } else {
        Some(next.as_usize())
    }
}

fn accepts(automaton: &dense::DFA<Vec<u32>>, state: usize) -> bool {
    match state {
        MATCHED => true,
        DEAD => false,
        _ => {
            let end = automaton.next_eoi_state(StateID::new_unchecked(state));
            automaton.is_match_state(end)
        }
    }
}

/// One byte for each group of bytes that all automata treat the same: the most
/// readable one.
fn collect_alphabet(automata: &[(&dense::DFA<Vec<u32>>, bool)]) -> Vec<u8> {
    let nice = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b'!'..=b'~' => 3,
        b' ' => 4,
        0x80.. => 5,
        _ => 6,
    };
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.sort_by_key(nice);
    let mut seen = Vec::new();
    bytes.retain(|&byte| {
        let mut class: Vec<u8> =
            automata.iter().map(|(automaton, _)| automaton.byte_classes().get(byte)).collect();
        class.push(u8::from(begins(byte)));
        let unseen = !seen.contains(&class);
        if unseen {
            seen.push(class);
        }
        unseen
    });
    bytes
}

/// A step of a search: a text that leads to a state.
#[derive(Clone, Copy)]
struct SearchNode {
    state: u32,
    /// The number of characters and bytes, as far as they matter.
    chars: u64,
    bytes: u64,
    /// The previous step, and the byte that leads here.
    from: u32,
    byte: u8,
}

/// A breadth-first search through the product of automata.
fn search(
    automata: &[(&dense::DFA<Vec<u32>>, bool)],
    chars: LengthRange,
    bytes: LengthRange,
) -> SearchResult {
    let Some(mut product) = ProductAutomaton::new(automata) else { return SearchResult::TooLarge };
    let alphabet = product.alphabet.clone();
    let mut nodes = vec![SearchNode { state: 0, chars: 0, bytes: 0, from: 0, byte: 0 }];
    let mut seen: FxHashSet<(u32, u64, u64)> = FxHashSet::default();
    let mut at = 0;
    while let Some(&node) = nodes.get(at) {
        let accepted = product.states[node.state as usize].accepted;
        if accepted && chars.contains(node.chars) && bytes.contains(node.bytes) {
            let mut text = Vec::new();
            let mut back = node;
            while back.bytes > 0 {
                text.push(back.byte);
                back = nodes[back.from as usize];
            }
            text.reverse();
            return SearchResult::Text(text);
        }
        if bytes.most.is_none_or(|most| node.bytes < most) {
            let Some(next) = product.next(node.state) else { return SearchResult::TooLarge };
            for (&byte, next) in alphabet.iter().zip(next.iter()) {
                let count = node.chars + u64::from(begins(byte));
                if chars.most.is_some_and(|most| count > most) {
                    continue;
                }
                let Some(state) = *next else { continue };
                // A count above the minimum only matters if there is a maximum.
                let count = if chars.most.is_some() { count } else { count.min(chars.least) };
                // The first text that leads to a state has the fewest bytes.
                let length = node.bytes + 1;
                if !seen.insert((state, count, length.min(bytes.least))) {
                    continue;
                }
                if nodes.len() == STATES {
                    return SearchResult::TooLarge;
                }
                let from = at as u32;
                nodes.push(SearchNode { state, chars: count, bytes: length, from, byte });
            }
        }
        at += 1;
    }
    SearchResult::Nothing
}

/// An expression that matches exactly these texts.
pub(crate) fn join_literals<'l>(texts: impl IntoIterator<Item = &'l [u8]>) -> String {
    let texts: Vec<String> = texts.into_iter().map(escape_bytes).collect();
    format!(r"\A(?:{})\z", texts.join("|"))
}

/// An expression for exactly these bytes.
pub(crate) fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("(?-u:");
    for byte in bytes {
        out.push_str(&format!(r"\x{byte:02X}"));
    }
    out + ")"
}

/// An RE2 expression in the syntax of Rust's crate `regex`; `None` if it has no
/// counterpart.
pub(crate) fn from_re2(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    let mut class = false;
    // Whether the next `]` would be the first in its class, and so a literal.
    let mut first = false;
    while let Some(character) = chars.next() {
        let was_first = std::mem::take(&mut first);
        match character {
            '\\' => match chars.next()? {
                'd' => out.push_str("[0-9]"),
                'D' => out.push_str("[^0-9]"),
                's' => out.push_str(r"[\t\n\f\r ]"),
                'S' => out.push_str(r"[^\t\n\f\r ]"),
                'w' => out.push_str("[0-9A-Za-z_]"),
                'W' => out.push_str("[^0-9A-Za-z_]"),
                'b' if !class => out.push_str(r"(?-u:\b)"),
                'B' if !class => out.push_str(r"(?-u:\B)"),
                'Q' => loop {
                    match (chars.next(), chars.peek()) {
                        (Some('\\'), Some('E')) => {
                            chars.next();
                            break;
                        }
                        (Some(literal), _) => push_literal(&mut out, literal),
                        (None, _) => break,
                    }
                },
                letter @ ('A' | 'z' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'x' | 'p' | 'P') => {
                    out.push('\\');
                    out.push(letter);
                    // The name of a class, or the number of a character.
                    if matches!(letter, 'x' | 'p' | 'P') && chars.next_if_eq(&'{').is_some() {
                        out.push('{');
                        out.extend(chars.by_ref().take_while(|it| *it != '}'));
                        out.push('}');
                    }
                }
                // Octal numbers, back references, and words of other dialects.
                other if other.is_ascii_alphanumeric() => return None,
                other => push_literal(&mut out, other),
            },
            '[' if !class => {
                class = true;
                first = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' if class => push_literal(&mut out, character),
            ']' if was_first => push_literal(&mut out, ']'),
            ']' if class => {
                class = false;
                out.push(']');
            }
            '-' if class => {
                if chars.peek() == Some(&'-') {
                    return None;
                }
                out.push('-');
            }
            '{' if !class => {
                let ahead: String = chars.clone().take_while(|&it| it != '}').collect();
                let numbers = ahead.split_once(',').unwrap_or((&ahead, ""));
                let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
                let closed = chars.clone().any(|it| it == '}');
                let repeat =
                    closed && !numbers.0.is_empty() && digits(numbers.0) && digits(numbers.1);
                if repeat { out.push('{') } else { out.push_str(r"\{") }
            }
            _ => out.push(character),
        }
    }
    Some(out)
}

fn push_literal(out: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(character);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Arc<Pattern> {
        Pattern::new(&from_re2(text).expect("it is translated")).expect("it compiles")
    }

    #[test]
    fn classes_are_those_of_re2() {
        let cases = [
            (r"^\d$", "7", "\u{667}"),
            (r"^\w+$", "a_1", "\u{e9}"),
            (r"^[\d&&a]$", "&", "b"),
            (r"^[[]$", "[", "]"),
            (r"^[]a]$", "]", "b"),
            (r"^[^]a]$", "b", "]"),
            (r"^[[:alpha:]\-]+$", "a-b", "a1"),
            (r"^a{2}$", "aa", "a"),
            (r"^a{,2}$", "a{,2}", "aa"),
            (r"^\Qa.b\E+$", "a.bb", "axb"),
            (r"^[a\w~]$", "~", "-"),
            (r"\bfoo\b", "a foo", "afoo"),
            (r"^\p{Greek}\x{E9}\pL$", "\u{3b1}\u{e9}b", "a\u{e9}b"),
        ];
        for (text, yes, no) in cases {
            assert!(pattern(text).is_match(yes.as_bytes()), "`{text}` matches `{yes}`");
            assert!(!pattern(text).is_match(no.as_bytes()), "`{text}` does not match `{no}`");
        }
        for text in [r"\1", r"\017", r"a\Zb", r"[a--b]"] {
            assert_eq!(from_re2(text), None, "{text}");
        }
    }

    /// What the search finds or does not find, against all short words.
    #[test]
    fn the_search_agrees_with_trying_all_short_words() {
        let texts = ["^a+$", "^[ab]*$", "b", "^$", "^(a|bb)*$", "ab?$", "^.b", "^a{2,3}$"];
        let mut words = vec![String::new()];
        for length in 1..=4 {
            let longer = words.iter().filter(|word| word.len() == length - 1);
            let longer: Vec<_> =
                longer.flat_map(|word| ["a", "b", "c"].map(|it| format!("{word}{it}"))).collect();
            words.extend(longer);
        }
        for a in texts {
            for b in texts {
                for (least, most) in [(0, None), (2, Some(3)), (1, Some(1))] {
                    let (a, b) = (pattern(a), pattern(b));
                    let chars = LengthRange { least, most };
                    let fits = |word: &&String| {
                        a.is_match(word.as_bytes())
                            && !b.is_match(word.as_bytes())
                            && chars.contains(word.len() as u64)
                    };
                    let shortest = words.iter().find(fits).map(String::len);
                    let patterns = vec![(Arc::clone(&a), true), (Arc::clone(&b), false)];
                    let wanted =
                        TextSearch { patterns, chars, utf8: true, ..TextSearch::default() };
                    match wanted.find_shortest() {
                        SearchResult::Text(text) => {
                            assert_eq!(Some(text.len()), shortest);
                            assert!(fits(&&String::from_utf8(text).unwrap()));
                        }
                        found => assert_eq!((found, shortest), (SearchResult::Nothing, None)),
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_alone_need_no_automaton() {
        let length = |least, most| LengthRange { least, most };
        let shortest = |chars, bytes| {
            TextSearch { chars, bytes, utf8: true, ..TextSearch::default() }.find_shortest()
        };
        let text = |text: &str| SearchResult::Text(text.as_bytes().to_vec());
        assert_eq!(shortest(length(3, None), length(0, None)), text("aaa"));
        assert_eq!(shortest(length(0, Some(1)), length(3, None)), text("\u{20ac}"));
        assert_eq!(shortest(length(0, Some(2)), length(5, None)), text("\u{1d11e}a"));
        assert_eq!(shortest(length(0, Some(1)), length(5, None)), SearchResult::Nothing);
        assert_eq!(shortest(length(3, None), length(0, Some(2))), SearchResult::Nothing);
        assert_eq!(shortest(length(1 << 40, None), length(0, None)), SearchResult::Long);
    }

    #[test]
    fn a_search_that_is_too_large_is_given_up() {
        let wide = pattern(r"^(a|b)*a(a|b){40}$");
        let wanted =
            TextSearch { patterns: vec![(wide, true)], utf8: true, ..TextSearch::default() };
        assert_eq!(wanted.find_shortest(), SearchResult::TooLarge);
        // Each alone is small, but the first word of both has a length of 988,027.
        let patterns = ["^(a{997})+$", "^(a{991})+$"].map(|it| (pattern(it), true));
        let wanted = TextSearch { patterns: patterns.to_vec(), ..TextSearch::default() };
        assert_eq!(wanted.find_shortest(), SearchResult::TooLarge);
    }
}
