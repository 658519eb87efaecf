//! Sentences of comments that lead the reader from a deprecated element to another.

use abide_change::OptionOwner;
use abide_schema::{Comment, Element, Node};

use super::sentences::sentences;

/// Words that begin an instruction to use something else.
const INSTRUCTIONS: [&str; 12] = [
    "use", "see", "prefer", "favor", "favour", "consider", "switch", "migrate", "move", "refer",
    "replace", "upgrade",
];

/// Words that begin an instruction if the sentence also has "instead".
const OTHER_INSTRUCTIONS: [&str; 14] = [
    "set",
    "specify",
    "call",
    "pass",
    "send",
    "populate",
    "provide",
    "configure",
    "read",
    "look",
    "query",
    "check",
    "fill",
    "rely",
];

/// Words behind which an instruction may begin, apart from a mark.
const BEFORE_INSTRUCTIONS: [&str; 17] = [
    "please", "either", "instead", "should", "must", "and", "or", "rather", "can", "could", "may",
    "always", "simply", "just", "now", "then", "but",
];

/// What comes behind the verb where that is no instruction to use something else.
const OWN_USES: [&str; 13] =
    ["of", "at", "is", "case", "cases", "this", "it", "only", "with", "for", "in", "when", "if"];

/// Statements that what follows takes the place of an element.
const REPLACED_BY: [&[&str]; 24] = [
    &["replaced", "by"],
    &["replaced", "with"],
    &["replacement", "is"],
    &["superseded", "by"],
    &["obsoleted", "by"],
    &["deprecated", "by"],
    &["supplanted", "by"],
    &["subsumed", "by"],
    &["covered", "by"],
    &["in", "favor", "of"],
    &["in", "favour", "of"],
    &["renamed", "to"],
    &["renamed", "as"],
    &["moved", "to"],
    &["moved", "into"],
    &["moved", "under"],
    &["merged", "into"],
    &["merged", "with"],
    &["folded", "into"],
    &["split", "into"],
    &["migrated", "to"],
    &["recommend", "using"],
    &["recommend", "to", "use"],
    &["recommended", "to", "use"],
];

/// Statements that what comes before takes the place of an element.
const REPLACES: [&[&str]; 6] = [
    &["replaces", "this"],
    &["replaces", "it"],
    &["supersedes", "this"],
    &["takes", "its", "place"],
    &["is", "preferred"],
    &["are", "preferred"],
];

/// Statements of what holds now, as a sentence about a deprecation gives them.
const NOW: [&[&str]; 4] = [&["is", "now"], &["are", "now"], &["now", "in"], &["now", "part"]];

/// Statements that an element has no effect, so that it needs no replacement.
const NEEDLESS: [&[&str]; 21] = [
    &["no", "effect"],
    &["no-op"],
    &["noop"],
    &["does", "nothing"],
    &["do", "nothing"],
    &["ignored"],
    &["ignores"],
    &["no", "longer"],
    &["not", "used"],
    &["never", "used"],
    &["unused"],
    &["not", "needed"],
    &["not", "supported"],
    &["unsupported"],
    &["not", "implemented"],
    &["unimplemented"],
    &["not-implemented"],
    &["never", "implemented"],
    &["no", "replacement"],
    &["without", "replacement"],
    &["no", "equivalent"],
];

/// Nouns for elements, as sentences about one begin with.
const NOUNS: [&str; 13] = [
    "field",
    "option",
    "message",
    "method",
    "rpc",
    "enum",
    "value",
    "service",
    "flag",
    "parameter",
    "api",
    "type",
    "feature",
];

/// Words that limit what a sentence says to some cases.
const CONDITIONS: [&str; 7] = ["if", "when", "unless", "until", "whenever", "otherwise", "while"];

/// What a sentence says of a replacement, the clearest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Advice {
    /// Beside the deprecation: the element has no effect.
    NeedlessBeside,
    /// About the deprecation: the element has no effect.
    Needless,
    /// A sentence beside the deprecation says what to use.
    InsteadBeside,
    /// A sentence about the deprecation names another element, or says what holds now.
    Name,
    /// A sentence about the deprecation, or behind one, says what to use.
    Instead,
}

/// Where a sentence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// It speaks of the deprecation.
    About,
    /// It follows one that does, in the same paragraph.
    Behind,
    /// Neither.
    Beside,
}

/// The sentence of the comments of an element or a file that leads to a replacement, or says that
/// none is needed: one at the option `deprecated`, one that speaks of the deprecation or follows
/// one that does, or else one that is an instruction by itself.
pub(crate) fn replacement_sentence(holder: OptionOwner<'_>) -> Option<String> {
    let (at_option, own) = match holder {
        OptionOwner::File(file) => (file.comments_at_deprecated(), ""),
        OptionOwner::Element(element) => (element.comments_at_deprecated(), element.name()),
    };
    let at_option = at_option.iter().flat_map(|it| advice_in(&it.text, own, Context::About));
    let others = match holder {
        OptionOwner::Element(element) => own_comments(element),
        OptionOwner::File(_) => Vec::new(),
    };
    let others = others.iter().flat_map(|it| advice_in(&it.text, own, Context::Beside));
    let mut best: Option<(Advice, String)> = None;
    for (advice, sentence) in at_option.chain(others) {
        if best.as_ref().is_none_or(|(known, _)| advice > *known) {
            best = Some((advice, sentence));
        }
    }
    best.map(|(_, sentence)| sentence)
}

/// The comments before and behind an element.
pub(crate) fn own_comments(element: Element<'_>) -> Vec<Comment> {
    if element.node() == Node::NONE {
        return Vec::new();
    }
    let comments = element.file().decl().comments(element.node());
    comments.leading.into_iter().chain(comments.trailing).collect()
}

/// The sentences of a comment that say something of a replacement.
fn advice_in(comment: &str, own: &str, context: Context) -> Vec<(Advice, String)> {
    let mut found = Vec::new();
    let paragraphs = sentences(comment);
    // What is all that is said of a deprecated element is said of its deprecation.
    let is_all = paragraphs.iter().flatten().count() == 1 && context == Context::Beside;
    let context = if is_all { Context::Behind } else { context };
    for paragraph in paragraphs {
        let mut now = context;
        for text in paragraph {
            let sentence = Sentence::new(&text, own);
            if sentence.is_about_deprecation() {
                now = Context::About;
            }
            found.extend(sentence.advice(now).map(|it| (it, text)));
            if now == Context::About && context == Context::Beside {
                now = Context::Behind;
            }
        }
    }
    found
}

/// A word of a sentence.
struct Word<'s> {
    /// As it is written, marks around it included.
    written: &'s str,
    /// Without the marks around it, in lower case.
    plain: String,
}

impl<'s> Word<'s> {
    fn new(written: &'s str) -> Word<'s> {
        let plain = written.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
        Word { written, plain }
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&&*self.plain)
    }

    /// Returns true if a mark behind it ends a part of the sentence.
    fn ends_clause(&self) -> bool {
        self.plain.is_empty() || self.written.ends_with([':', ',', ';', '.', ')', '-', '>'])
    }

    /// Returns true if it names an element: in code or as a link, or by its capital or its form.
    fn is_name(&self) -> bool {
        let inner = self.written.trim_end_matches(['.', ',', ';', ':', ')']);
        let is_part = |it: char| matches!(it, '`' | '_' | '[' | '.' | '(' | '/');
        inner.contains(is_part) || inner.chars().any(char::is_uppercase)
    }
}

struct Sentence<'s> {
    text: &'s str,
    own: &'s str,
    words: Vec<Word<'s>>,
}

impl<'s> Sentence<'s> {
    fn new(text: &'s str, own: &'s str) -> Sentence<'s> {
        Sentence { text, own, words: text.split_whitespace().map(Word::new).collect() }
    }

    fn is_about_deprecation(&self) -> bool {
        let is_about = |it: &Word<'_>| it.plain.contains("deprecat") || it.plain == "obsolete";
        self.words.iter().any(is_about)
    }

    fn advice(&self, context: Context) -> Option<Advice> {
        let says_instead = match context {
            Context::About | Context::Behind => self.instructs(context) || self.is_replaced(),
            Context::Beside => {
                self.instructs_by_itself() || self.is_about_element() && self.is_replaced()
            }
        };
        match context {
            Context::Beside if says_instead => Some(Advice::InsteadBeside),
            _ if says_instead => Some(Advice::Instead),
            Context::About if self.names_another() => Some(Advice::Name),
            Context::About | Context::Behind if self.has_any(&NOW) => Some(Advice::Name),
            Context::Beside if self.is_needless() && self.is_about_element() => {
                Some(Advice::NeedlessBeside)
            }
            Context::About | Context::Behind if self.is_needless() => Some(Advice::Needless),
            _ => None,
        }
    }

    /// Returns true if a part of the sentence tells the reader to use something else.
    fn instructs(&self, context: Context) -> bool {
        self.says_instead() || (0..self.words.len()).any(|at| self.is_instruction(at, context))
    }

    /// Returns true if a sentence that does not speak of the deprecation tells the reader to use
    /// something else: by "instead", or by a name.
    fn instructs_by_itself(&self) -> bool {
        let mut instructions =
            (0..self.words.len()).filter(|at| self.is_instruction(*at, Context::Beside));
        instructions.any(|at| {
            let [verb, rest @ ..] = &self.words[at..] else { return false };
            let begins = self.words[..at].iter().all(|it| it.is_one_of(&BEFORE_INSTRUCTIONS));
            let points_away = verb.is_one_of(&["switch", "migrate", "replace"]);
            self.has_instead() || begins && (points_away || rest.iter().take(4).any(Word::is_name))
        })
    }

    /// Returns true if the word at an index begins an instruction to use something else.
    fn is_instruction(&self, at: usize, context: Context) -> bool {
        let [verb, rest @ ..] = &self.words[at..] else { return false };
        let may_begin = match at.checked_sub(1).map(|it| &self.words[it]) {
            None => true,
            Some(before) => {
                before.ends_clause()
                    || before.is_one_of(&BEFORE_INSTRUCTIONS)
                    || before.plain == "deprecated"
            }
        };
        let is_denied = self.words[..at].iter().rev().take(2).any(is_denial);
        let is_article = |it: &Word<'_>| it.is_one_of(&["the", "a", "an"]) && !it.is_name();
        let object = rest.iter().find(|it| !is_article(it));
        // Another element may have the same name, and its name may be a word.
        let is_itself = |it: &Word<'_>| {
            context != Context::About && self.is_own(it) && !rest.first().is_some_and(is_article)
        };
        let is_own = object.is_none_or(|it| it.is_one_of(&OWN_USES) || is_itself(it));
        let is_verb = verb.is_one_of(&INSTRUCTIONS) && (verb.plain != "replace" || self.has_with())
            || verb.is_one_of(&OTHER_INSTRUCTIONS) && self.has_instead();
        may_begin && is_verb && !is_denied && !is_own
    }

    fn has_with(&self) -> bool {
        self.words.iter().any(|it| it.is_one_of(&["with", "by"]))
    }

    fn is_own(&self, word: &Word<'_>) -> bool {
        !self.own.is_empty() && word.plain == self.own.to_lowercase()
    }

    /// Returns true if it has "instead", and not "instead of" something other than the element,
    /// unless it says what should be done.
    fn has_instead(&self) -> bool {
        let is_instead = |at: usize| {
            let rest = &self.words[at + 1..];
            let of = rest.first().is_some_and(|it| it.plain == "of");
            let is_own = |it: &Word<'_>| {
                it.is_one_of(&["this", "it", "that", "deprecated"]) || self.is_own(it)
            };
            let of_own = rest.iter().skip(1).take(2).any(is_own);
            let is_duty = self.words[..at].iter().any(|it| it.is_one_of(&["should", "must"]));
            self.words[at].plain == "instead" && (!of || of_own || is_duty)
        };
        (0..self.words.len()).any(is_instead)
    }

    /// Returns true if it says that something is used instead, in every case, and not what is in
    /// the element.
    fn says_instead(&self) -> bool {
        let is_own = self.has_any(&[&["in", "this"], &["with", "this"]]);
        self.has_instead() && !is_own && !self.words.iter().any(|it| it.is_one_of(&CONDITIONS))
    }

    /// Returns true if it says that something else took the place of the element.
    fn is_replaced(&self) -> bool {
        let is_affirmed = |at: &usize| !self.words[..*at].iter().rev().take(2).any(is_denial);
        let names = |phrase: &&[&str]| {
            let mut places = self.places_of(phrase).filter(is_affirmed);
            places.any(|at| at + phrase.len() < self.words.len())
        };
        REPLACED_BY.iter().any(names)
            || REPLACES.iter().any(|phrase| self.places_of(phrase).any(|at| is_affirmed(&at)))
    }

    /// Returns true if it says that the element has no effect, in every case.
    fn is_needless(&self) -> bool {
        NEEDLESS.iter().any(|phrase| {
            self.places_of(phrase)
                .any(|at| !self.words[at..].iter().any(|it| it.is_one_of(&CONDITIONS)))
        })
    }

    fn has_any(&self, phrases: &[&[&str]]) -> bool {
        phrases.iter().any(|phrase| self.places_of(phrase).next().is_some())
    }

    /// Returns where these words follow each other.
    fn places_of<'a>(&'a self, phrase: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.words.windows(phrase.len()).enumerate();
        windows.filter_map(move |(at, words)| {
            words.iter().zip(phrase).all(|(word, it)| word.plain == *it).then_some(at)
        })
    }

    /// Returns true if its subject is the element itself, or left out as in "Replaced by …".
    fn is_about_element(&self) -> bool {
        let [first, rest @ ..] = &self.words[..] else { return false };
        let is_noun = |it: &Word<'_>| it.is_one_of(&NOUNS);
        let begins = |phrase: &&[&str]| self.places_of(phrase).any(|at| at <= 1);
        first.is_one_of(&["this", "it"])
            || first.plain == "the" && rest.first().is_some_and(is_noun)
            || self.words.iter().any(|it| self.is_own(it))
            || self.words.windows(2).any(|it| it[0].plain == "this" && is_noun(&it[1]))
            || REPLACED_BY.iter().chain(&NEEDLESS).any(begins)
    }

    /// Returns true if it has the name of another element in backticks, or a link.
    fn names_another(&self) -> bool {
        let is_version = |it: &str| {
            it.strip_prefix('v').is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
        };
        let mut quoted = self.text.split('`').skip(1).step_by(2);
        quoted.any(|it| !it.is_empty() && it != self.own && !is_version(it))
            || self.text.contains("](")
            || self.text.contains("][")
    }
}

fn is_denial(word: &Word<'_>) -> bool {
    word.is_one_of(&["not", "never", "cannot", "no"]) || word.plain.ends_with("n't")
}
