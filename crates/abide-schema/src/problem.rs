//! Problems that protoc would refuse or warn about.

mod spelling;

use abide_syntax::Span;

use crate::ids::FileId;

pub(crate) use spelling::{find_near, find_nearest, normalize_path};

/// A place in a file of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The place in it; turned into lines and columns by
    /// [`FileDecl::line_index`](crate::decl::FileDecl::line_index).
    pub span: Span,
}

/// A violation of the rules of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of defect.
    pub kind: ProblemKind,
    /// Its place.
    pub place: Place,
    /// One lower-case phrase, names in backticks.
    pub message: String,
    /// The full name of the element it is about, if there is one.
    pub element: Option<String>,
    /// Related places, each with a phrase.
    pub labels: Vec<(Place, String)>,
    /// Advice on how to mend it.
    pub help: Option<String>,
}

/// The text around the path in the advice to import a file.
const IMPORT_ADVICE: (&str, &str) = ("add `import \"", "\";`");

/// The advice to import a file.
pub(crate) fn import_advice(path: &str) -> String {
    format!("{}{path}{}", IMPORT_ADVICE.0, IMPORT_ADVICE.1)
}

/// The text around the word in the advice to write another one.
const MEANT: (&str, &str) = ("did you mean `", "`?");

/// The advice to write another word.
pub(crate) fn suggest_word(word: &str) -> String {
    format!("{}{word}{}", MEANT.0, MEANT.1)
}

impl Problem {
    /// The path of the file that declares what was not found, if importing it is all that is
    /// missing.
    pub fn missing_import(&self) -> Option<&str> {
        let advice = self.help.as_deref().filter(|_| self.is_about_a_name())?;
        advice.strip_prefix(IMPORT_ADVICE.0)?.strip_suffix(IMPORT_ADVICE.1)
    }

    /// The name that was most likely meant by the one at its place.
    pub fn meant(&self) -> Option<&str> {
        let advice = self.help.as_deref().filter(|_| self.is_about_a_name())?;
        advice.strip_prefix(MEANT.0)?.strip_suffix(MEANT.1)
    }

    /// The path that was most likely meant by that of an import which was not found.
    pub fn meant_path(&self) -> Option<&str> {
        let advice = self.help.as_deref().filter(|_| self.kind == ProblemKind::ImportNotFound)?;
        advice.strip_prefix(MEANT.0)?.strip_suffix(MEANT.1)
    }

    /// Returns true if the path that was meant is that of the import, but for case and separators.
    pub fn is_spelled_otherwise(&self, import: &str) -> bool {
        self.meant_path().is_some_and(|it| normalize_path(it) == normalize_path(import))
    }

    fn is_about_a_name(&self) -> bool {
        matches!(self.kind, ProblemKind::NameNotFound | ProblemKind::OptionInvalid)
    }
}

macro_rules! problem_kinds {
    ($($(#[$doc:meta])* $kind:ident = $id:literal, $error:literal;)*) => {
        /// The kinds of [`Problem`]; each has an id that is permanent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ProblemKind {
            $($(#[$doc])* $kind,)*
        }

        impl ProblemKind {
            /// Every kind.
            pub const ALL: &[ProblemKind] = &[$(ProblemKind::$kind,)*];

            /// The id of the kind, used in reports and waivers.
            pub const fn id(self) -> &'static str {
                match self { $(ProblemKind::$kind => $id,)* }
            }

            /// Returns true if nobody knows what a file with such a problem declares: its text is
            /// none that the grammar allows, or its syntax may mean anything. A file in an edition
            /// that is not known is read nevertheless, and only its features are not known.
            pub(crate) const fn is_unread(self) -> bool {
                matches!(self, ProblemKind::Syntax | ProblemKind::Edition)
            }

            /// Returns true if it is the same defect in every edition, or about the edition.
            pub(crate) const fn is_about_names(self) -> bool {
                matches!(
                    self,
                    ProblemKind::Edition
                        | ProblemKind::Syntax
                        | ProblemKind::Warning
                        | ProblemKind::DescriptorInvalid
                        | ProblemKind::ImportNotFound
                        | ProblemKind::ImportCycle
                        | ProblemKind::NameNotFound
                        | ProblemKind::NameDuplicated
                )
            }

            /// Returns true if protoc refuses the tree; otherwise it only warns.
            pub const fn is_error(self) -> bool {
                match self { $(ProblemKind::$kind => $error,)* }
            }
        }
    };
}

problem_kinds! {
    /// Text that the grammar does not allow.
    Syntax = "syntax-error", true;
    /// `syntax` or `edition` missing or unknown.
    Edition = "edition-invalid", true;
    /// An import of a file that does not exist.
    ImportNotFound = "import-not-found", true;
    /// A file that imports itself, in one or more steps.
    ImportCycle = "import-cycle", true;
    /// A file imported twice, or an import that is misused.
    ImportInvalid = "import-invalid", true;
    /// An import that nothing uses.
    ImportUnused = "import-unused", false;
    /// A name that no visible file declares.
    NameNotFound = "name-not-found", true;
    /// A name that is declared twice in one scope.
    NameDuplicated = "name-duplicated", true;
    /// A name of the wrong kind of element, or one that may not be used here.
    NameMisused = "name-misused", true;
    /// A field number or enum number used twice.
    NumberDuplicated = "number-duplicated", true;
    /// A number outside of what is allowed.
    NumberInvalid = "number-invalid", true;
    /// A name or number that the same message or enum reserves.
    ReservedUsed = "reserved-used", true;
    /// A reserved or extension range that is empty, overlaps or is malformed.
    RangeInvalid = "range-invalid", true;
    /// Two fields with one JSON name, or a JSON name that is not allowed.
    JsonName = "json-name-conflict", true;
    /// A field whose label or type is not allowed where it stands.
    FieldInvalid = "field-invalid", true;
    /// A default value that does not fit its field.
    DefaultInvalid = "default-invalid", true;
    /// A oneof without fields.
    OneofInvalid = "oneof-invalid", true;
    /// An enum without values, or whose values break a rule.
    EnumInvalid = "enum-invalid", true;
    /// An extension that its extendee does not allow.
    ExtensionInvalid = "extension-invalid", true;
    /// A method whose types are not messages, or a malformed service.
    MethodInvalid = "method-invalid", true;
    /// An option that is unknown, set twice or has a value that does not fit.
    OptionInvalid = "option-invalid", true;
    /// A feature that may not be set here or to this value.
    FeatureInvalid = "feature-invalid", true;
    /// A name that breaks the naming style an edition enforces.
    StyleViolated = "naming-style-violated", true;
    /// A malformed file in a descriptor set.
    DescriptorInvalid = "descriptor-invalid", true;
    /// A warning of protoc that has no kind of its own.
    Warning = "compiler-warning", false;
}

/// `a` or `an`, as the word asks for.
pub(crate) fn choose_article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}
