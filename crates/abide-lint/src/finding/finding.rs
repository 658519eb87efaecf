//! Findings: what rules report, with places.

use abide_change::{
    Change, Comparison, Effects, Language, LostSymbol, Proof, Surface, Witness, find_lost_by_use,
    find_lost_in_file, find_lost_symbols,
};
use abide_schema::{Element, File, RawOptions};
use sha2::{Digest, Sha256};

use super::aliases;
use super::behind::Behind;
use super::broken_baseline::BrokenBaseline;
use super::bump_level::Bump;
use super::dependent::Dependent;
use super::element_user::ElementUser;
use super::exception::{Exception, ExceptionKind};
use super::fix::Fix;
use super::location::Location;
use super::statement_locations::feature_place;

/// How much a finding matters, as the policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Should be fixed.
    Warning,
    /// Must be fixed or waived.
    Error,
}

impl Severity {
    /// Its word in configuration and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A related place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLabel {
    /// Where, in a text of any origin.
    pub location: Location,
    /// A lower-case phrase shown at that place.
    pub message: String,
}

/// A finding about one place of a tree.
///
/// Its texts are for a reader who sees nothing else: `message` is one lower-case
/// phrase with names in backticks that is true on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// How much it matters, by the policy.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub location: Location,
    /// The text shown at that place, if it adds to the message.
    pub at: Option<String>,
    /// The full name of the element that it is about: a type, a package or a file.
    pub element: String,
    /// The package that it is about.
    pub package: String,
    /// Related places, such as the steps of a path.
    pub labels: Vec<FindingLabel>,
    /// Why it matters, in this case.
    pub why: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// Edits that mend it, the best first.
    pub fixes: Vec<Fix>,
    /// The facts that distinguish this finding from others of its rule and element;
    /// never line numbers. The fingerprint covers rule, element and facts.
    pub facts: Vec<String>,
    /// Why it has its severity, such as ``by `[[override]]` …``.
    pub severity_reason: Option<String>,
    /// The rules of other tools that report this very case, as `buf:ID`.
    pub aliases: Vec<&'static str>,
    /// The releases that it is for, where an instance was judged by several.
    pub releases: Vec<String>,
    /// The old trees that it is about, the oldest first, where a run compares with several.
    pub baselines: Vec<BrokenBaseline>,
    /// The clients that use the element, as far as `[usage] files` says.
    pub users: Vec<ElementUser>,
    /// Who is behind, if it compares what runs with a tree.
    pub behind: Option<Behind>,
    /// The parts that only a finding about a change has.
    pub change: Option<Box<ChangeFacts>>,
    /// The exception that it falls under; `None` for what is reported.
    pub exception: Option<Box<Exception>>,
}

/// The additional parts of a finding about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFacts {
    /// Where the old side stands.
    pub old: Option<Location>,
    /// Whom it breaks.
    pub effects: Effects,
    /// Whom it may break as well, where nothing in the trees can tell. It counts only where
    /// nothing that it surely breaks is asked for.
    pub may_break: Effects,
    /// What it was and what it is now, if the change is one of a single value.
    pub values: Option<[String; 2]>,
    /// The bump that its package needs for it.
    pub bump: Bump,
    /// Symbols of generated code that it removes or changes, at most one for each
    /// language.
    pub symbols: Vec<LostSymbol>,
    /// The packages that it reaches, if they were asked for.
    pub dependents: Vec<Dependent>,
    /// A value that shows it.
    pub witness: Option<Witness>,
    /// Its default severity if it breaks nobody backward: a note, unless its rule
    /// says more.
    pub at_least: Severity,
    /// For a removed element, how it was removed.
    pub gone: Option<Gone>,
    /// True if what it breaks weighs little: packaging options, or an annotation.
    pub(crate) is_light: bool,
    /// True if buf, which pairs elements by full name, does not compare the two
    /// sides.
    pub(crate) apart: bool,
}

/// How an element was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// True if it, or an enclosing element, was deprecated on the old side.
    pub deprecated: bool,
    /// Since when, according to its annotation.
    pub deprecated_at: Option<String>,
    /// True if its number and its name are reserved; true if it has no number.
    pub reserved: bool,
    /// What to do so that it is there again: a phrase that begins with a verb.
    pub put_back: String,
}

impl Finding {
    /// A finding with only the required parts. The policy sets its severity later.
    pub(crate) fn new(
        rule: &'static str,
        location: Location,
        package: &str,
        element: impl Into<String>,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            rule,
            severity: Severity::Error,
            message: message.into(),
            location,
            at: None,
            element: element.into(),
            package: package.to_owned(),
            labels: Vec::new(),
            why: None,
            help: None,
            fixes: Vec::new(),
            facts: Vec::new(),
            severity_reason: None,
            aliases: Vec::new(),
            releases: Vec::new(),
            baselines: Vec::new(),
            users: Vec::new(),
            behind: None,
            change: None,
            exception: None,
        }
    }

    /// Marks it as falling under an exception, unless it falls under another one already.
    pub(crate) fn except(&mut self, kind: ExceptionKind, reason: &str) {
        self.exception
            .get_or_insert_with(|| Box::new(Exception { kind, reason: reason.to_owned() }));
    }

    /// Returns what it breaks; nothing, unless it is about a change.
    pub fn effects(&self) -> Effects {
        self.change.as_ref().map_or(Effects::NONE, |change| change.effects)
    }

    /// Sets the text shown at the place itself.
    pub fn at(&mut self, message: impl Into<String>) -> &mut Finding {
        self.at = Some(message.into());
        self
    }

    /// Adds a related place.
    pub fn label(
        &mut self,
        location: impl Into<Location>,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.labels.push(FindingLabel { location: location.into(), message: message.into() });
        self
    }

    /// Sets why it matters.
    pub fn why(&mut self, text: impl Into<String>) -> &mut Finding {
        self.why = Some(text.into());
        self
    }

    /// Sets what to do.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Finding {
        self.help = Some(text.into());
        self
    }

    /// Adds a fix, if there is one.
    pub(crate) fn fix(&mut self, fix: Option<Fix>) -> &mut Finding {
        self.fixes.extend(fix);
        self
    }

    /// Lowers the severity, whatever the policy says of the rule: this case is less than its name
    /// says.
    pub(crate) fn at_most(&mut self, severity: Severity, reason: &str) -> &mut Finding {
        self.severity = severity;
        self.severity_reason = Some(reason.to_owned());
        self
    }

    /// Adds a fact that distinguishes it from other findings of its rule and
    /// element.
    pub fn fact(&mut self, fact: impl Into<String>) -> &mut Finding {
        self.facts.push(fact.into());
        self
    }

    /// Sets what a change made of what, as facts. A waiver can name both.
    pub(crate) fn changed(
        &mut self,
        was: impl Into<String>,
        is: impl Into<String>,
    ) -> &mut Finding {
        let (was, is) = (was.into(), is.into());
        self.fact(was.clone()).fact(is.clone()).between(was, is)
    }

    /// Sets what a change made of what, where other facts distinguish it.
    pub(crate) fn between(
        &mut self,
        was: impl Into<String>,
        is: impl Into<String>,
    ) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.values = Some([was.into(), is.into()]);
        }
        self
    }

    /// Sets the rules of other tools that report this case, if they differ from
    /// those of the rule.
    pub fn aliases(&mut self, aliases: &[&'static str]) -> &mut Finding {
        let apart = self.change.as_ref().is_some_and(|change| change.apart);
        let fires = |alias: &&&str| !apart || aliases::fires_apart(alias);
        self.aliases = aliases.iter().filter(fires).copied().collect();
        self
    }

    /// Adds effects of the change.
    pub fn breaks(&mut self, effects: Effects) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.effects |= effects;
        }
        self
    }

    /// Adds effects that the change may have, where nothing in the trees can tell.
    pub(crate) fn may_break(&mut self, effects: Effects) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.may_break |= effects;
        }
        self
    }

    /// Marks a change whose effects weigh little, whatever surface they are on.
    pub(crate) fn light(&mut self) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.is_light = true;
        }
        self
    }

    /// Adds proven effects of the change, with the value that shows them.
    pub fn proven(&mut self, proof: Proof) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.effects |= proof.effects;
            change.witness = change.witness.take().or(proof.witnesses.into_iter().next());
        }
        self
    }

    /// Adds what the change of an element breaks in generated code.
    pub(crate) fn source<'t>(
        &mut self,
        diff: &Comparison<'t>,
        element: Change<Element<'t>>,
    ) -> &mut Finding {
        // For a package with many elements, the first ones are enough.
        match self.change.as_ref().is_some_and(|it| it.symbols.len() == Language::ALL.len()) {
            true => self,
            false => self.lose(find_lost_symbols(diff, element)),
        }
    }

    /// Adds what the other name of the type of an element breaks in generated code.
    pub(crate) fn source_by_use<'t>(
        &mut self,
        diff: &Comparison<'t>,
        user: (Element<'t>, Element<'t>),
        ty: (Element<'t>, Element<'t>),
    ) -> &mut Finding {
        self.lose(find_lost_by_use(diff, user, ty))
    }

    /// Adds what the change of a whole file breaks in generated code.
    pub(crate) fn source_of_file<'t>(
        &mut self,
        diff: &Comparison<'t>,
        file: Change<File<'t>>,
    ) -> &mut Finding {
        self.lose(find_lost_in_file(diff, file))
    }

    /// Adds what a change breaks in clients generated from annotations.
    pub(crate) fn source_of_client(&mut self, lost: Option<LostSymbol>) -> &mut Finding {
        let effects = lost.iter().map(|it| Effects::backward(&[it.surface]));
        let effects = effects.fold(Effects::NONE, |all, it| all | it);
        self.lose((effects, lost.into_iter().collect()))
    }

    fn lose(&mut self, (effects, symbols): (Effects, Vec<LostSymbol>)) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.effects |= effects;
            // One symbol for each language is enough.
            for symbol in symbols {
                if !change.symbols.iter().any(|known| known.surface == symbol.surface) {
                    change.symbols.push(symbol);
                }
            }
        }
        self
    }

    /// Adds the aliases and the validation effects of another finding about the same
    /// change. This one already has the effects on values and generated code.
    pub(crate) fn absorb(&mut self, part: Finding) {
        let new = part.aliases.into_iter().filter(|it| !self.aliases.contains(it));
        self.aliases.extend(new.collect::<Vec<_>>());
        if let Some(facts) = part.change {
            self.breaks(facts.effects.on(&[Surface::Validation]));
            let witness = facts.witness.filter(|it| it.surface == Surface::Validation);
            self.proven(witness.map(Proof::of).unwrap_or_default());
        }
    }

    /// Adds all that another finding about the same element says.
    pub(crate) fn join(&mut self, part: Finding) {
        self.message = format!("{}; {}", self.message, part.message);
        self.facts.extend(part.facts);
        let new = part.aliases.into_iter().filter(|it| !self.aliases.contains(it));
        self.aliases.extend(new.collect::<Vec<_>>());
        self.why = self.why.take().or(part.why);
        self.help = self.help.take().or(part.help);
        if let Some(facts) = part.change {
            self.lose((facts.effects, facts.symbols));
            self.proven(facts.witness.map(Proof::of).unwrap_or_default());
        }
    }

    /// Sets the default severity if the change breaks nobody backward; it is a note
    /// otherwise.
    pub fn at_least(&mut self, severity: Severity) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.at_least = severity;
        }
        self
    }

    /// Moves it to where the new side sets a feature, if it does.
    pub(crate) fn at_feature(
        &mut self,
        file: File<'_>,
        options: RawOptions,
        feature: &str,
    ) -> &mut Finding {
        if let Some(place) = feature_place(file, options, feature) {
            self.location = Location::tree(place);
        }
        self
    }

    /// Sets the bump if it does not follow from the effects: a change that breaks
    /// nobody is a minor by default.
    pub fn bump(&mut self, bump: Bump) -> &mut Finding {
        if let Some(change) = &mut self.change {
            change.bump = bump;
        }
        self
    }

    /// Returns the fingerprints by which it is accepted: one for each old tree that it is about, if
    /// these differ.
    pub fn fingerprints(&self) -> Vec<String> {
        if self.baselines.is_empty() {
            return vec![self.fingerprint()];
        }
        let mut all: Vec<String> = self.baselines.iter().map(|it| it.fingerprint.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Identifies this finding across runs and edits elsewhere: the first 16 hex
    /// digits of a SHA-256 over rule, element and facts.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let parts = [self.rule, self.element.as_str()];
        for part in parts.into_iter().chain(self.facts.iter().map(String::as_str)) {
            // The length keeps `a` + `bc` from being `ab` + `c`.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        short(&hash.finalize())
    }
}

/// A short digest of a content, for a fact: the first 16 hex digits of its SHA-256.
pub(crate) fn digest(content: impl AsRef<[u8]>) -> String {
    short(&Sha256::digest(content))
}

fn short(hash: &[u8]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if a text has the form of a fingerprint.
pub(crate) fn is_fingerprint(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
