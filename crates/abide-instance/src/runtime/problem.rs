//! Problems of runtime layers and their consequences.

use std::fmt;

use abide_syntax::Span;

/// Something wrong with the layers of a bootstrap or of an RTDS resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerProblem {
    /// The kind.
    pub kind: LayerProblemKind,
    /// The span in the text that the layers are from.
    pub span: Span,
}

/// The kind of a problem of runtime layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerProblemKind {
    /// A name that an earlier layer has, and where.
    NameTaken(Box<str>, Span),
    /// A second admin layer, and where the first one is.
    SeveralAdminLayers(Span),
    /// A layer without a name.
    NoName,
    /// A layer that does not say what it is.
    NoSource(Box<str>),
    /// The root of a layer on disk without a slash, which cannot be watched.
    RootWithoutSlash(Box<str>),
    /// The value of a key is null or a list.
    NoValue(Box<str>),
    /// A key that is there twice, once with dots and once nested, and where the
    /// first one is.
    KeyTwice(Box<str>, Span),
    /// A struct that looks like a share and is none.
    NoShare(Box<str>),
    /// A boolean in quotes, which readers of booleans pass over.
    BooleanInQuotes(Box<str>),
}

impl LayerProblem {
    pub(super) fn new(kind: LayerProblemKind, span: Span) -> LayerProblem {
        LayerProblem { kind, span }
    }

    /// Returns true if a server refuses to start with it, or refuses the RTDS resource.
    pub fn is_refused(&self) -> bool {
        !matches!(
            self.kind,
            LayerProblemKind::KeyTwice(..)
                | LayerProblemKind::NoShare(_)
                | LayerProblemKind::BooleanInQuotes(_)
        )
    }

    /// Another place that explains it.
    pub fn related(&self) -> Option<Span> {
        match self.kind {
            LayerProblemKind::NameTaken(_, span)
            | LayerProblemKind::SeveralAdminLayers(span)
            | LayerProblemKind::KeyTwice(_, span) => Some(span),
            _ => None,
        }
    }
}

impl fmt::Display for LayerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LayerProblemKind::NameTaken(name, _) => write!(f, "two layers are named `{name}`"),
            LayerProblemKind::SeveralAdminLayers(_) => {
                f.write_str("there is more than one admin layer")
            }
            LayerProblemKind::NoName => f.write_str("the layer has no name"),
            LayerProblemKind::NoSource(name) => write!(
                f,
                "the layer `{name}` is neither static nor on disk, neither RTDS nor admin"
            ),
            LayerProblemKind::RootWithoutSlash(root) => write!(
                f,
                "the `symlink_root` `{root}` has no slash: Envoy watches the folder that it is in"
            ),
            LayerProblemKind::NoValue(key) => write!(
                f,
                "the value of `{key}` is null or a list, not a boolean, number, text or share"
            ),
            LayerProblemKind::KeyTwice(key, _) => write!(
                f,
                "the key `{key}` is there twice, with dots and nested: which one counts is not \
                 defined"
            ),
            LayerProblemKind::NoShare(key) => write!(
                f,
                "the value of `{key}` is not a share, so readers get their default: a share has \
                 `numerator`, and `denominator` as HUNDRED, TEN_THOUSAND or MILLION"
            ),
            LayerProblemKind::BooleanInQuotes(key) => write!(
                f,
                "the boolean of `{key}` is in quotes, so readers of booleans get their default: \
                 remove the quotes"
            ),
        }
    }
}
