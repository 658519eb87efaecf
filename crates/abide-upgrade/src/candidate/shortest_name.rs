//! Writes references to types by the shortest name.

use abide_schema::{Element, File, FileId};
use rustc_hash::FxHashSet;

use crate::plan::{UpgradePlan, collect_visible_files, iter_extensions};

/// Words that would begin another statement in the place of a field's type.
const KEYWORDS: &[&str] = &[
    "enum",
    "extend",
    "extensions",
    "message",
    "oneof",
    "option",
    "optional",
    "repeated",
    "required",
    "reserved",
    "stream",
];

/// The names of packages and types that a file sees.
#[derive(Debug, Default)]
pub(crate) struct VisibleNames(FxHashSet<String>);

impl VisibleNames {
    /// The names that a file sees now.
    pub(crate) fn from_file(file: File<'_>) -> VisibleNames {
        let mut names = VisibleNames::default();
        for id in
            collect_visible_files(file.tree, file.imports().filter_map(|it| Some(it.file?.id)))
        {
            names.add(file.tree.file(id), None);
        }
        names.add(file, None);
        names
    }

    /// The names that its candidate, which imports these files, sees.
    pub(crate) fn from_candidate<'t>(
        plan: &UpgradePlan<'t>,
        file: File<'t>,
        imports: impl Iterator<Item = FileId>,
    ) -> VisibleNames {
        let mut names = VisibleNames::default();
        for id in collect_visible_files(plan.tree, imports) {
            names.add(plan.tree.file(id), Some(plan));
        }
        names.add(file, Some(plan));
        names
    }

    fn add<'t>(&mut self, file: File<'t>, plan: Option<&UpgradePlan<'t>>) {
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        let types = messages.map(Element::Message).chain(file.all_enums().map(Element::Enum));
        let others =
            file.services().map(Element::Service).chain(iter_extensions(file).map(Element::Field));
        for element in types.chain(others) {
            let next = plan.and_then(|plan| plan.find_next_name(element));
            self.0.insert(next.unwrap_or_else(|| element.full_name()));
        }
        let next = plan.and_then(|plan| plan.next(file.id));
        let package = next.map_or(file.package().name(), |next| &next.package);
        let ends = package.match_indices('.').map(|(at, _)| at).chain([package.len()]);
        self.0.extend(ends.map(|end| package[..end].to_owned()));
    }

    /// The full name that a relative name means. As in protoc, the innermost scope
    /// with its first component decides.
    pub(crate) fn resolve(&self, scope: &str, name: &str) -> Option<String> {
        let first = name.split('.').next().unwrap_or(name);
        for scope in iter_scopes(scope) {
            if self.0.contains(&join_name(scope, first)) {
                let full = join_name(scope, name);
                return self.0.contains(&full).then_some(full);
            }
        }
        None
    }

    /// The shortest name for `target` in `scope` with at least so many components.
    fn shorten_name(&self, scope: &str, target: &str, components: usize) -> String {
        let starts = target.match_indices('.').map(|(at, _)| at + 1).rev().chain([0]);
        for name in starts.skip(components.saturating_sub(1)).map(|at| &target[at..]) {
            let first = name.split('.').next().unwrap_or(name);
            if !KEYWORDS.contains(&first)
                && self.resolve(scope, name).is_some_and(|found| found == target)
            {
                return name.to_owned();
            }
        }
        format!(".{target}")
    }
}

/// A reference to a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScopedReference<'s> {
    /// The full name of the enclosing element.
    pub(crate) scope: &'s str,
    /// The full name of the type.
    pub(crate) target: &'s str,
}

/// The new form of a reference that was `written` in this form before the upgrade.
/// It keeps the style: a leading dot, the full name, or a name as short as before.
pub(crate) fn rewrite_name(
    written: &str,
    (names, old): (&VisibleNames, ScopedReference<'_>),
    (next_names, new): (&VisibleNames, ScopedReference<'_>),
) -> String {
    if written.starts_with('.') {
        return format!(".{}", new.target);
    }
    if written == names.shorten_name(old.scope, old.target, 1) {
        return next_names.shorten_name(new.scope, new.target, 1);
    }
    let count = |name: &str| name.split('.').count();
    let components = if written == old.target { count(new.target) } else { count(written) };
    next_names.shorten_name(new.scope, new.target, components)
}

/// A scope and its enclosing scopes, from the inside out.
fn iter_scopes(scope: &str) -> impl Iterator<Item = &str> {
    let ends = scope.match_indices('.').map(|(at, _)| at).rev();
    let inner = (!scope.is_empty()).then_some(scope.len());
    inner.into_iter().chain(ends).chain([0]).map(|end| &scope[..end])
}

fn join_name(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}
