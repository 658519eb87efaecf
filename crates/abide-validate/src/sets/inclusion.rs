//! Decides whether one set of texts is inside another.
//!
//! `Yes` is a proof: lists, lengths and automata are compared exactly. `No` comes with a text
//! that is in the first set and not in the second, if there is one of a sensible size.

use super::acceptance::Acceptance;
use super::dialect::Dialect;
use super::formats::StringFormat;
use super::pattern::{LengthRange, Pattern, SearchResult, TextSearch};
use super::string_set::{PatternExpression, StringSet, within};

/// The answer that one set is included in another, or an element that is not.
#[derive(Clone, Debug, PartialEq)]
pub enum Included<W> {
    /// Every element of the first set is in the second.
    Yes,
    /// There is an element that is not included; `None` if it is too large or needs
    /// a clock.
    No(Option<W>),
    /// The reason why it cannot be decided.
    Unknown(String),
}

/// Collects the answers to one question. An element that is not included settles the question;
/// until then the first reason not to know remains.
#[derive(Debug, Default)]
pub struct Inconclusive(Option<String>);

impl Inconclusive {
    /// No reason yet.
    pub fn new() -> Inconclusive {
        Inconclusive(None)
    }

    /// Keeps a reason if it is the first.
    pub fn add(&mut self, why: impl Into<String>) {
        self.0.get_or_insert(why.into());
    }

    /// Returns true if nothing is unknown.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns `Yes`, or `Unknown` with the first reason.
    pub fn into_included<W>(self) -> Included<W> {
        self.0.map_or(Included::Yes, Included::Unknown)
    }
}

/// Two sets of texts: is the first included in the second?
pub struct TextInclusion<'s> {
    /// The set that may be included.
    pub a: &'s StringSet,
    /// The set that may include it.
    pub b: &'s StringSet,
    /// The texts are UTF-8, as strings are and bytes need not be.
    pub utf8: bool,
    /// True if the first has further rules.
    pub opaque: bool,
    /// True if the empty text is left out.
    pub without_empty: bool,
}

impl TextInclusion<'_> {
    fn accepted(&self, text: &[u8]) -> Acceptance {
        if self.without_empty && text.is_empty() {
            return Acceptance::when(false);
        }
        self.a.evaluate(text).and(|| {
            if self.opaque { Acceptance::Unknown(String::new()) } else { Acceptance::Accepted }
        })
    }

    /// Decides it.
    pub fn check_inclusion(&self) -> Included<Vec<u8>> {
        let mut doubt = Inconclusive::new();
        if let Some(among) = &self.a.among {
            let mut among: Vec<&Vec<u8>> = among.iter().collect();
            among.sort_by_key(|text| text.len());
            for text in among {
                match (self.accepted(text), self.b.evaluate(text)) {
                    (Acceptance::Rejected(_), _) | (_, Acceptance::Accepted) => {}
                    (Acceptance::Accepted, Acceptance::Rejected(_)) => {
                        return Included::No(Some(text.clone()));
                    }
                    (Acceptance::Unknown(_), _) => {
                        doubt.add("other rules may exclude the difference")
                    }
                    (_, Acceptance::Unknown(why)) => doubt.add(why),
                }
            }
            return doubt.into_included();
        }
        let mut unseen = false;
        for wanted in self.search_outside() {
            let found = match wanted {
                Ok(wanted) => self.search(wanted),
                Err(why) => Included::Unknown(why),
            };
            match found {
                Included::Yes => {}
                Included::No(Some(text)) => return Included::No(Some(text)),
                Included::No(None) => unseen = true,
                Included::Unknown(why) => doubt.add(why),
            }
        }
        for text in self.b.without.difference(&self.a.without) {
            match self.accepted(text) {
                Acceptance::Accepted => return Included::No(Some(text.clone())),
                Acceptance::Rejected(_) => {}
                Acceptance::Unknown(_) => doubt.add("other rules may exclude the difference"),
            }
        }
        for (dialect, format) in &self.b.formats {
            match self.format(*dialect, *format) {
                Included::No(found) => return Included::No(found),
                Included::Unknown(why) => doubt.add(why),
                Included::Yes => {}
            }
        }
        if unseen { Included::No(None) } else { doubt.into_included() }
    }

    /// Descriptions of texts that are not in the second set, one for each rule that
    /// can be violated.
    fn search_outside(&self) -> Vec<Result<TextSearch, String>> {
        let mut all = Vec::new();
        let free = LengthRange::default();
        let pairs = [(self.b.chars, true), (self.b.bytes, false)];
        for (length, chars) in pairs {
            let shorter =
                length.least.checked_sub(1).map(|most| LengthRange { least: 0, most: Some(most) });
            let longer =
                length.most.map(|most| LengthRange { least: most.saturating_add(1), most: None });
            for bound in shorter.into_iter().chain(longer) {
                let (chars, bytes) = if chars { (bound, free) } else { (free, bound) };
                all.push(Ok(TextSearch { chars, bytes, ..TextSearch::default() }));
            }
        }
        let lists = self.b.among.as_ref().map(|among| StringSet::list_expression(among, true));
        let known = |expression: &&PatternExpression| !self.a.expressions.contains(expression);
        for expression in self.b.expressions.iter().chain(&lists).filter(known) {
            all.push(match expression.pattern() {
                Some(pattern) => {
                    let patterns = vec![(pattern, !expression.wanted)];
                    Ok(TextSearch { patterns, ..TextSearch::default() })
                }
                None => Err(format!("`{}` cannot be compared", expression.said())),
            });
        }
        all
    }

    /// A text of the first set that fits a description.
    fn search(&self, wanted: TextSearch) -> Included<Vec<u8>> {
        let (wanted, exact) = within(self.a, wanted, self.utf8, self.without_empty);
        let exact = exact && !self.opaque;
        match wanted.find_shortest() {
            SearchResult::Nothing => Included::Yes,
            SearchResult::Long if exact => Included::No(None),
            SearchResult::Long => {
                Included::Unknown("the texts that differ are too long".to_owned())
            }
            SearchResult::TooLarge => {
                Included::Unknown("the patterns are too large to compare".to_owned())
            }
            SearchResult::Text(text) => {
                let own = self.a.formats.iter().flat_map(|(_, format)| format.samples());
                let samples = own.map(|text| text.as_bytes().to_vec());
                for text in std::iter::once(text).chain(samples) {
                    let rejected = matches!(self.b.evaluate(&text), Acceptance::Rejected(_));
                    if rejected && self.accepted(&text) == Acceptance::Accepted {
                        return Included::No(Some(text));
                    }
                }
                Included::Unknown("other rules may exclude the difference".to_owned())
            }
        }
    }

    /// Returns true if the first set is known to have no text.
    fn is_empty(&self) -> bool {
        let (wanted, _) = within(self.a, TextSearch::default(), self.utf8, self.without_empty);
        wanted.find_shortest() == SearchResult::Nothing
    }

    /// A text of the first set that does not have a format.
    fn format(&self, dialect: Dialect, format: StringFormat) -> Included<Vec<u8>> {
        let four = [
            StringFormat::Ip,
            StringFormat::Address,
            StringFormat::LooseAddress,
            StringFormat::LooseHostname,
        ];
        let implied = self.a.formats.iter().any(|(own, it)| it.implies(*own, format, dialect))
            || four.contains(&format)
                && self.a.expressions.iter().any(|it| it.said() == "ipv4" && it.wanted);
        if implied {
            return Included::Yes;
        }
        let outline = format.outline(dialect).and_then(Pattern::new);
        let beyond = outline.map(|outline| (outline, false));
        let slash = Pattern::new("/").map(|slash| (slash, true));
        for pattern in [None, beyond, slash] {
            let patterns = pattern.into_iter().collect();
            match self.search(TextSearch { patterns, ..TextSearch::default() }) {
                Included::No(Some(text)) => return Included::No(Some(text)),
                // The first set is empty.
                Included::Yes if self.is_empty() => return Included::Yes,
                _ => {}
            }
        }
        Included::Unknown("a format cannot be compared with other rules".to_owned())
    }
}
