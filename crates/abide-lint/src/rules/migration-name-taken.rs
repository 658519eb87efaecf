use abide_schema::{Element, Migration, Part};
use abide_syntax::DeclKind;
use abide_upgrade::find_name_clashes;

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "migration-name-taken",
    summary: "a migration to a name that is taken or cannot be given",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("migration-name-taken.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    if !context.standings().can_be_upgraded(element.file()) {
        return;
    }
    report_impossible_name(element, sink);
    for clash in find_name_clashes(element) {
        let (noun, name) = (clash.element.noun(), clash.element.full_name());
        let message = format!(
            "{noun} `{}` migrates to the name `{}`, which is taken in the next version by {}",
            clash.element.relative_name(),
            clash.name,
            clash.holder,
        );
        let package = element.package().name();
        let finding = sink.report(clash.place, package, name, message);
        finding.why("the next major version would not compile").fact(clash.name);
        // A migration is reported at its option, the zero of an enum at its name.
        finding.help(match clash.element {
            Element::EnumValue(it) if it.place(Part::Name) == clash.place => {
                "remove `deprecated` from one of the two zero values"
            }
            _ => "choose another name",
        });
        if let Some(place) = clash.holder_place {
            finding.label(place, "the name is taken here");
        }
    }
}

/// Reports a migration whose name no upgrade can give to the element itself.
fn report_impossible_name<'t>(element: Element<'t>, sink: &mut Sink) {
    if element.deprecated().is_some() {
        return;
    }
    for (migration, place) in element.migrations() {
        let Some((name, fault)) = find_name_fault(element, migration) else { continue };
        let (noun, own) = (element.noun(), element.relative_name());
        let message = format!("{noun} `{own}` cannot migrate to the name `{name}`: {fault}");
        let finding = sink.report(place, element.package().name(), element.full_name(), message);
        finding.why("`abide upgrade` cannot carry the migration out").fact(name);
        finding.help("choose another name, or remove the migration");
    }
}

fn find_name_fault<'t>(
    element: Element<'t>,
    migration: Migration<'t>,
) -> Option<(&'t str, &'static str)> {
    let (name, is_rename) = match migration {
        Migration::Rename(name) => (name, true),
        Migration::PromoteToOneof(name) => (name, false),
        Migration::MoveToPackage(_) => return None,
    };
    let is_word = name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let is_name = is_word && name.bytes().next().is_some_and(|it| !it.is_ascii_digit());
    if !is_name {
        return Some((name, "a name is one word of letters, digits and `_`, not begun by a digit"));
    }
    if is_rename && name == element.name() {
        return Some((name, "it has that name"));
    }
    let is_group = is_rename && is_type_of_group(element);
    is_group.then_some((name, "it is the type of a group, which is renamed with its field"))
}

/// Returns true if a message is declared by a field.
fn is_type_of_group(element: Element<'_>) -> bool {
    let Element::Message(message) = element else { return false };
    let decls = message.file().decl().ast().map(|it| &it.decls);
    let decl = decls.and_then(|it| it.get(element.node().0 as usize));
    decl.is_some_and(|it| matches!(it.kind, DeclKind::Field(_)))
}
