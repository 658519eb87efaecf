//! Changes of files, packages and elements with their own full names: removals,
//! additions, moves and renames.
//!
//! A change that follows from a change of the container is reported once, at the
//! container: a message that is removed with its package is no separate finding.

use abide_change::{Change, Comparison, Direction, Effects, Surface, list_top_level};
use abide_schema::{Element, Field, File, Message, Method, Package, Part, Service};
use abide_syntax::ImportKind;
use fixedbitset::FixedBitSet;

use crate::finding::{Finding, aliases};
use crate::rule::Sink;

/// The languages that include or import a file by its own path.
const BY_PATH: [Surface; 2] = [Surface::SourceCpp, Surface::SourcePython];

/// What [`deletions`] may name of a message.
pub(crate) const MESSAGE_DELETIONS: &[&str] =
    &["buf:MESSAGE_NO_DELETE", "buf:PACKAGE_MESSAGE_NO_DELETE", "google:MESSAGE_REMOVAL"];

/// What [`deletions`] may name of an enum.
pub(crate) const ENUM_DELETIONS: &[&str] =
    &["buf:ENUM_NO_DELETE", "buf:PACKAGE_ENUM_NO_DELETE", "google:ENUM_REMOVAL"];

/// What [`deletions`] may name of a service.
pub(crate) const SERVICE_DELETIONS: &[&str] =
    &["buf:SERVICE_NO_DELETE", "buf:PACKAGE_SERVICE_NO_DELETE", "google:SERVICE_REMOVAL"];

/// What [`deletions`] may name of an extension.
pub(crate) const EXTENSION_DELETIONS: &[&str] =
    &["buf:EXTENSION_NO_DELETE", "buf:PACKAGE_EXTENSION_NO_DELETE", "buf:FIELD_SAME_NAME"];

/// Reports a removed message, enum, service or extension.
pub(crate) fn report_removed<'t, 's>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &'s mut Sink,
) -> Option<&'s mut Finding> {
    let old = change.old().filter(|_| change.new().is_none() && !is_told_above(diff, change))?;
    let message = format!("{} `{}` was removed", old.noun(), old.full_name());
    let finding = sink.change(diff, change, Part::Whole, message);
    let namesake = find_namesake(diff, old);
    finding.aliases(&collect_deletion_aliases(diff, old, None));
    if let Some(it) = namesake {
        finding.label(it.place(Part::Name), "an extension of another message now has this name");
    }
    add_effects(finding, diff, change);
    Some(finding)
}

/// The extension that has the name of one that was removed or renamed.
fn find_namesake<'t>(diff: &Comparison<'t>, gone: Element<'t>) -> Option<Field<'t>> {
    let Element::Field(gone) = gone else { return None };
    let name = gone.full_name();
    let mut extensions = diff.new.extensions_named(&name);
    extensions.find(|it| it.package().name() == gone.package().name())
}

/// Reports one whose full name changed.
pub(crate) fn report_renamed<'t>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.full_name(), new.full_name());
    if was == is || is_told_above(diff, change) {
        return;
    }
    let message = format!("{} `{was}` was renamed to `{is}`", new.noun());
    let finding = sink.change(diff, change, Part::Name, message);
    finding.fact(was.clone()).between(was, is).aliases(&collect_deletion_aliases(
        diff,
        old,
        Some(new),
    ));
    // Users in other packages are told by `used-type-renamed`. Those beside it have kept their own
    // names, so buf compares them, if not the type itself.
    if matches!(old, Element::Message(_) | Element::Enum(_)) {
        finding.aliases.extend(aliases::of_users(diff.collect_users(old)));
    }
    // What breaks if both names live on is told by `field-replaced`.
    let is_replaced = match (old, new) {
        (Element::Field(old), Element::Field(new)) => diff.is_replaced(old, new),
        _ => false,
    };
    if !is_replaced {
        add_effects(finding, diff, change);
    }
}

/// Reports one that moved to another file under the same full name.
pub(crate) fn report_moved<'t>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.file(), new.file());
    let along = new.parent().is_some() || diff.new_file(was) == Some(is);
    if along || was.path() == is.path() || old.full_name() != new.full_name() {
        return;
    }
    let message = format!(
        "{} `{}` moved from `{}` to `{}`",
        new.noun(),
        new.full_name(),
        was.path(),
        is.path()
    );
    let finding = sink.change(diff, change, Part::Name, message);
    finding.changed(was.path(), is.path()).aliases(&collect_deletion_aliases(diff, old, Some(new)));
    finding.breaks(compute_path_effects(diff, was, is)).source(diff, change);
}

/// Reports one that was added.
pub(crate) fn report_added<'t>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    sink: &mut Sink,
) {
    let Change::Added(new) = change else { return };
    if is_told_above(diff, change) {
        return;
    }
    let message = format!("{} `{}` was added", new.noun(), new.full_name());
    add_effects(sink.change(diff, change, Part::Name, message), diff, change);
}

/// Returns true if the removal, addition or rename of an element follows from that of its
/// enclosing message, file or package. An extension is always reported beside its
/// enclosing message, since it belongs to another one.
fn is_told_above<'t>(diff: &Comparison<'t>, change: Change<Element<'t>>) -> bool {
    let parent = |it: Element<'t>| it.parent().filter(|_| !matches!(it, Element::Field(_)));
    match change {
        Change::Removed(old) => match parent(old) {
            Some(parent) => diff.new_element(parent).is_none(),
            None => diff.new_package(old.package()).is_none() || diff.is_fully_removed(old.file()),
        },
        Change::Added(new) => match parent(new) {
            Some(parent) => diff.old_element(parent).is_none(),
            None => diff.old_package(new.package()).is_none() || diff.is_fully_added(new.file()),
        },
        Change::Both { old, new } => match (parent(old), parent(new)) {
            (Some(was), Some(is)) => diff.new_element(was) == Some(is) && old.name() == new.name(),
            (None, None) => {
                let along = diff.new_package(old.package()) == Some(new.package())
                    || diff.new_file(old.file()) == Some(new.file());
                along && short(old) == short(new)
            }
            _ => false,
        },
    }
}

/// The name of an element relative to its package.
fn short(element: Element<'_>) -> String {
    element.relative_name()
}

/// Adds the effects of the removal, addition or rename of an element.
pub(crate) fn add_effects<'t>(
    finding: &mut Finding,
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
) {
    let directions: &[Direction] = match change {
        Change::Removed(_) => &[Direction::Backward],
        Change::Added(_) => &[Direction::Forward],
        Change::Both { .. } => Direction::ALL,
    };
    let mut effects = Effects::NONE;
    let mut insert =
        |surface| directions.iter().for_each(|&direction| effects.insert(surface, direction));
    match change.new().or(change.old()) {
        Some(Element::Message(_)) => insert(Surface::TypeUrl),
        Some(Element::Service(service)) => {
            // The path of a gRPC call has the name of the service; an HTTP
            // route does not.
            if service.methods().next().is_some() {
                insert(Surface::Rpc);
            }
            if change.both().is_none() && has_routes(service) {
                insert(Surface::Rest);
            }
        }
        Some(Element::Method(method)) => {
            insert(Surface::Rpc);
            if change.both().is_none() && !method.http_bindings().is_empty() {
                insert(Surface::Rest);
            }
        }
        Some(Element::Field(_)) => {
            let field = |it| match it {
                Element::Field(field) => Some(field),
                _ => None,
            };
            let change = match change {
                Change::Removed(old) => field(old).map(Change::Removed),
                Change::Added(new) => field(new).map(Change::Added),
                Change::Both { old, new } => {
                    field(old).zip(field(new)).map(|(old, new)| Change::Both { old, new })
                }
            };
            if let Some(change) = change {
                finding.proven(diff.prover().prove_field(change));
            }
        }
        Some(Element::Enum(_) | Element::Oneof(_) | Element::EnumValue(_)) | None => {}
    }
    finding.breaks(effects).source(diff, change);
}

fn has_routes(service: Service<'_>) -> bool {
    service.methods().any(|it| !it.http_bindings().is_empty())
}

/// The effects of moving elements from the file `old` to the file `new`.
pub(crate) fn compute_path_effects<'t>(
    diff: &Comparison<'t>,
    old: File<'t>,
    new: File<'t>,
) -> Effects {
    let stays = diff.new_file(old).filter(|it| it.path() == old.path());
    let Some(stays) = stays else { return Effects::backward(&BY_PATH) };
    let mut effects = Effects::NONE;
    // A header includes the headers of all imports; a Python module only
    // re-exports the names of public ones.
    if !imports(stays, new, false) {
        effects.insert(Surface::SourceCpp, Direction::Backward);
    }
    if !imports(stays, new, true) {
        effects.insert(Surface::SourcePython, Direction::Backward);
    }
    effects
}

/// The effects of removing a path.
pub(crate) fn removed_path() -> Effects {
    Effects::backward(&BY_PATH)
}

/// Returns true if one file imports another, directly or not.
fn imports<'t>(from: File<'t>, to: File<'t>, public: bool) -> bool {
    from == to || imported(from, public).contains(to.id.0 as usize)
}

/// The files that a file imports, directly or not.
pub(crate) fn imported(from: File<'_>, public: bool) -> FixedBitSet {
    let mut seen = FixedBitSet::with_capacity(from.tree.files().len());
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for import in file.imports() {
            if let Some(next) = import.file.filter(|_| !public || is_public(import.decl.kind))
                && !seen.put(next.id.0 as usize)
            {
                open.push(next);
            }
        }
    }
    seen
}

fn is_public(kind: ImportKind) -> bool {
    kind == ImportKind::Public
}

/// The rules of other tools that report a removed, renamed or moved element. In
/// buf these are the rules about the file with this path and about the package
/// with this name; in Google's detector, the rule about the full name.
pub(crate) fn collect_deletion_aliases<'t>(
    diff: &Comparison<'t>,
    old: Element<'t>,
    new: Option<Element<'t>>,
) -> Vec<&'static str> {
    let same_name = new.filter(|new| short(*new) == short(old));
    let same_name = same_name.or_else(|| find_namesake(diff, old).map(Element::Field));
    let mut aliases = Vec::new();
    let path_stays = diff.new_file(old.file()).is_some_and(|it| it.path() == old.file().path());
    if path_stays && same_name.is_none_or(|new| new.file().path() != old.file().path()) {
        aliases.extend(match old {
            Element::Message(_) => Some("buf:MESSAGE_NO_DELETE"),
            Element::Enum(_) => Some("buf:ENUM_NO_DELETE"),
            Element::Service(_) => Some("buf:SERVICE_NO_DELETE"),
            Element::Field(_) => Some("buf:EXTENSION_NO_DELETE"),
            Element::Oneof(_) | Element::EnumValue(_) | Element::Method(_) => None,
        });
    }
    let moved = same_name.is_none_or(|new| new.package().name() != old.package().name());
    if moved && has_like(diff, old) {
        aliases.extend(match old {
            Element::Message(_) => Some("buf:PACKAGE_MESSAGE_NO_DELETE"),
            Element::Enum(_) => Some("buf:PACKAGE_ENUM_NO_DELETE"),
            Element::Service(_) => Some("buf:PACKAGE_SERVICE_NO_DELETE"),
            Element::Field(_) => Some("buf:PACKAGE_EXTENSION_NO_DELETE"),
            Element::Oneof(_) | Element::EnumValue(_) | Element::Method(_) => None,
        });
    }
    if let (Element::Field(old), Some(Element::Field(new))) = (old, new)
        && old.extendee().map(Message::full_name) == new.extendee().map(Message::full_name)
        && old.full_name() != new.full_name()
    {
        aliases.push("buf:FIELD_SAME_NAME");
    }
    if moved {
        aliases.extend(match old {
            Element::Message(_) => Some("google:MESSAGE_REMOVAL"),
            Element::Enum(_) => Some("google:ENUM_REMOVAL"),
            Element::Service(_) => Some("google:SERVICE_REMOVAL"),
            Element::Field(_) | Element::Oneof(_) | Element::EnumValue(_) | Element::Method(_) => {
                None
            }
        });
    }
    aliases
}

/// Returns true if the new tree has a package of this name with any element of this kind,
/// as buf requires except for services.
fn has_like<'t>(diff: &Comparison<'t>, old: Element<'t>) -> bool {
    let package = diff.new.package_named(old.package().name());
    package.into_iter().flat_map(Package::files).filter(|it| it.is_judged()).any(|file| match old {
        Element::Message(_) => file.all_messages().next().is_some(),
        Element::Enum(_) => file.all_enums().next().is_some(),
        Element::Field(_) => file.all_fields().any(Field::is_extension),
        _ => true,
    })
}

/// Adds the effects, and the rules of other tools, of elements that are removed,
/// added or renamed together.
pub(crate) fn add_all_effects<'t>(
    finding: &mut Finding,
    diff: &Comparison<'t>,
    changes: impl IntoIterator<Item = Change<Element<'t>>>,
    mut aliases: Vec<&'static str>,
) {
    for change in changes {
        add_effects(finding, diff, change);
        if let Some(old) = change.old() {
            aliases.extend(collect_deletion_aliases(diff, old, change.new()));
        }
    }
    aliases.sort_unstable();
    aliases.dedup();
    finding.aliases(&aliases);
}

/// The elements that are reported with their file: its top level, and the
/// extensions inside messages, which belong to other messages.
fn collect_reported_with(file: File<'_>) -> impl Iterator<Item = Element<'_>> {
    let nested = file.all_messages().flat_map(Message::extensions);
    list_top_level(file).chain(nested.map(Element::Field))
}

/// The elements that are removed with a file: those that exist nowhere else.
pub(crate) fn collect_removed<'t>(
    diff: &Comparison<'t>,
    old: File<'t>,
) -> Vec<Change<Element<'t>>> {
    let gone = collect_reported_with(old).filter(|it| diff.new_element(*it).is_none());
    gone.map(Change::Removed).collect()
}

/// The elements that are added with a file: those that did not exist before.
pub(crate) fn collect_added<'t>(diff: &Comparison<'t>, new: File<'t>) -> Vec<Change<Element<'t>>> {
    let come = collect_reported_with(new).filter(|it| diff.old_element(*it).is_none());
    come.map(Change::Added).collect()
}

/// The elements of an old file that now have the same name in another package.
pub(crate) fn collect_moved<'t>(diff: &Comparison<'t>, old: File<'t>) -> Vec<Change<Element<'t>>> {
    let pairs = collect_reported_with(old).filter_map(|old| Some((old, diff.new_element(old)?)));
    let along = pairs.filter(|(old, new)| short(*old) == short(*new));
    let along = along.filter(|(old, new)| old.package().name() != new.package().name());
    along.map(|(old, new)| Change::Both { old, new }).collect()
}

/// The elements removed or added along with something, in words: the first few by
/// name.
pub(crate) fn with<'t>(changes: &[Change<Element<'t>>]) -> String {
    const SHOWN: usize = 4;
    let named = changes.iter().filter_map(|it| it.new().or(it.old()));
    let mut words: Vec<String> =
        named.take(SHOWN).map(|it| format!("{} `{}`", it.noun(), it.name())).collect();
    if changes.len() > SHOWN {
        words.push(format!("{} more", changes.len() - SHOWN));
    }
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" with {last}"),
        Some((last, first)) => format!(" with {} and {last}", first.join(", ")),
    }
}

/// A package in words.
pub(crate) fn titled(package: Package<'_>) -> String {
    match package.name() {
        "" => "the package without a name".to_owned(),
        name => format!("package `{name}`"),
    }
}

/// The encodings in which a method exchanges its messages.
pub(crate) fn notations<'t>(old: Method<'t>, new: Method<'t>) -> &'static [Surface] {
    if old.http_bindings().is_empty() && new.http_bindings().is_empty() {
        &[Surface::Wire]
    } else {
        &[Surface::Wire, Surface::Json]
    }
}
