//! The definition of a rule in `abide.toml`.

use abide_syntax::Span;
use abide_validate::cel::{CelType, HostType, PatternCache, Program};

use super::facts;
use super::template::Template;
use crate::finding::Severity;

/// The number of a rule that a configuration declares, among all of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnRuleId(pub(crate) usize);

/// A rule that `abide.toml` declares.
#[derive(Debug)]
pub struct OwnRule {
    /// Its id.
    pub id: String,
    /// One phrase for lists.
    pub summary: String,
    /// What it is about.
    pub on: RuleSubject,
    /// Its severity where no setting says anything; `None` if it is off.
    pub severity: Option<Severity>,
    /// The condition as it is written.
    pub when: String,
    /// The message as it is written.
    pub message: String,
    /// The help as it is written.
    pub help: Option<String>,
    /// Files that show what it reports.
    pub examples: Vec<OwnRuleExample>,
    /// Where the rule stands in `abide.toml`.
    pub span: Span,
    /// Where its condition stands there.
    pub when_span: Span,
    pub(super) condition: Program,
    pub(super) message_template: Template,
    pub(super) help_template: Option<Template>,
    /// The patterns of its expressions.
    pub(super) patterns: PatternCache,
}

impl OwnRule {
    /// Returns true if any file of a tree may decide what it finds.
    pub(crate) fn looks_everywhere(&self) -> bool {
        let texts = [Some(&self.when), Some(&self.message), self.help.as_ref()];
        let names = |text: &String| facts::FAR_FACTS.iter().any(|it| text.contains(it));
        texts.into_iter().flatten().any(names)
    }
}

/// A file that shows what a rule reports.
#[derive(Clone, Debug)]
pub struct OwnRuleExample {
    /// The text of the file; of a rule about changes, that of the new side.
    pub proto: String,
    /// The text of the old side, for a rule about changes.
    pub old: Option<String>,
    /// The elements at which the rule must report; empty if it must be silent.
    pub reports: Vec<String>,
    /// Where the example stands in `abide.toml`.
    pub span: Span,
}

/// What a rule is about: elements of a kind, or their changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSubject {
    /// The kind.
    pub kind: SubjectKind,
    /// True if the rule is about changes.
    pub is_change: bool,
}

/// A kind of element that rules can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after the element it is")]
pub enum SubjectKind {
    File,
    Package,
    Message,
    Field,
    Oneof,
    Enum,
    EnumValue,
    Extension,
    Service,
    Method,
}

impl SubjectKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: &[SubjectKind] = &[
        SubjectKind::File,
        SubjectKind::Package,
        SubjectKind::Message,
        SubjectKind::Field,
        SubjectKind::Oneof,
        SubjectKind::Enum,
        SubjectKind::EnumValue,
        SubjectKind::Extension,
        SubjectKind::Service,
        SubjectKind::Method,
    ];

    /// Its word in configuration.
    pub const fn word(self) -> &'static str {
        match self {
            SubjectKind::File => "file",
            SubjectKind::Package => "package",
            SubjectKind::Message => "message",
            SubjectKind::Field => "field",
            SubjectKind::Oneof => "oneof",
            SubjectKind::Enum => "enum",
            SubjectKind::EnumValue => "enum-value",
            SubjectKind::Extension => "extension",
            SubjectKind::Service => "service",
            SubjectKind::Method => "method",
        }
    }

    fn host_type(self) -> &'static HostType {
        match self {
            SubjectKind::File => &facts::FILE,
            SubjectKind::Package => &facts::PACKAGE,
            SubjectKind::Message => &facts::MESSAGE,
            SubjectKind::Field | SubjectKind::Extension => &facts::FIELD,
            SubjectKind::Oneof => &facts::ONEOF,
            SubjectKind::Enum => &facts::ENUM,
            SubjectKind::EnumValue => &facts::ENUM_VALUE,
            SubjectKind::Service => &facts::SERVICE,
            SubjectKind::Method => &facts::METHOD,
        }
    }
}

/// What the words of changes begin with.
const CHANGE_OF: &str = "change-of-";

impl RuleSubject {
    /// Every subject: elements first, then changes.
    pub fn iter_all() -> impl Iterator<Item = RuleSubject> {
        [false, true].into_iter().flat_map(|is_change| {
            SubjectKind::ALL.iter().map(move |&kind| RuleSubject { kind, is_change })
        })
    }

    /// Its word in configuration.
    pub fn word(self) -> String {
        let start = if self.is_change { CHANGE_OF } else { "" };
        format!("{start}{}", self.kind.word())
    }

    /// The variables of its expressions, with their types.
    pub(super) fn variables(self) -> Vec<(&'static str, CelType)> {
        let names: &[&str] = if self.is_change { &["this", "old", "new"] } else { &["this"] };
        names.iter().map(|name| (*name, CelType::Host(self.kind.host_type()))).collect()
    }
}
