//! Text files that list the names of features: one name on a line, and comments
//! after `#`.

use abide_syntax::Span;

/// A text file that lists the names of features.
#[derive(Clone, Debug)]
pub struct FeatureFile {
    /// Its path, relative to the root of the tree.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A name in such a file.
pub(crate) struct FeatureName<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// The names of a text, in its order.
pub(crate) fn names(text: &str) -> Vec<FeatureName<'_>> {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    let mut names = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.split('#').next().unwrap_or_default();
        let spare = |it: char| it.is_whitespace() || it == BYTE_ORDER_MARK;
        let start = at + content.len() - content.trim_start_matches(spare).len();
        let text = content.trim_matches(spare);
        if !text.is_empty() {
            let span = Span::new(start as u32, (start + text.len()) as u32);
            names.push(FeatureName { text, span });
        }
        at += line.len();
    }
    names
}

/// Returns true if a name is one in reverse-DNS notation: components in lower case, the
/// owner first, as in `envoy.lb.does_not_support_overprovisioning`.
pub(crate) fn is_reverse_dns(name: &str) -> bool {
    let is_component = |component: &str| {
        component.starts_with(|it: char| it.is_ascii_lowercase())
            && component.ends_with(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit())
            && component
                .chars()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '-' | '_'))
    };
    name.contains('.') && name.split('.').all(is_component)
}
