use std::collections::BTreeMap;
use std::fmt;

use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Message, Part};

use crate::finding::{Bump, Severity};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "extension-declaration-changed",
    summary: "an extension declaration that changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("extension-declaration-changed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (read_declarations(old), read_declarations(new));
    let mut numbers: Vec<i64> = was.keys().chain(is.keys()).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let (was, is) = (was.get(&number), is.get(&number));
        if was == is {
            continue;
        }
        let what = match (was, is) {
            (Some(was), Some(is)) => format!("changed from {was} to {is}"),
            (None, Some(is)) => format!("was added: {is}"),
            (_, None) => "was removed".to_owned(),
        };
        let message = format!("declaration of extension {number} of `{}` {what}", new.full_name());
        let finding = sink.change(diff, change.map(Element::Message), Part::Whole, message);
        finding.fact(number.to_string()).fact(describe(was)).fact(describe(is));
        match compare_effects(was, is) {
            Effects::NONE => finding.bump(Bump::None),
            effects => finding.breaks(effects),
        };
    }
    let (was, is) = (requires_declarations(old), requires_declarations(new));
    if was != is {
        let verb = if is { "now requires" } else { "no longer requires" };
        let message = format!("`{}` {verb} that extensions are declared", new.full_name());
        let finding = sink.change(diff, change.map(Element::Message), Part::Whole, message);
        let facts = match is {
            true => ["asks for none", "asks for declarations"],
            false => ["asks for declarations", "asks for none"],
        };
        finding.fact(facts[0]).fact(facts[1]);
        match is {
            true => finding.breaks(Effects::backward(SOURCES)),
            // What is declared stays in the source: no meaning changed.
            false => finding.bump(Bump::None),
        };
    }
}

/// The declaration of one extension by the owner of the message.
#[derive(PartialEq, Eq)]
struct ExtensionDeclaration {
    name: String,
    ty: String,
    repeated: bool,
    reserved: bool,
}

impl fmt::Display for ExtensionDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExtensionDeclaration { name, ty, .. } = self;
        match (self.reserved, self.repeated) {
            (true, _) => f.write_str("reserved"),
            (false, true) => write!(f, "`repeated {ty} {name}`"),
            (false, false) => write!(f, "`{ty} {name}`"),
        }
    }
}

/// The declarations of a message by their numbers.
fn read_declarations(message: Message<'_>) -> BTreeMap<i64, ExtensionDeclaration> {
    let tree = message.tree;
    let options = message.extension_range_options().flatten();
    let declared = options.flat_map(|it| it.get_all(tree, "declaration"));
    let declared = declared.filter_map(|it| it.value.as_message());
    declared
        .map(|value| {
            let declaration = ExtensionDeclaration {
                name: read_name(value.get_str(tree, "full_name")),
                ty: read_name(value.get_str(tree, "type")),
                repeated: value.get_bool(tree, "repeated").unwrap_or_default(),
                reserved: value.get_bool(tree, "reserved").unwrap_or_default(),
            };
            (value.get_i64(tree, "number").unwrap_or_default(), declaration)
        })
        .collect()
}

/// Returns true if any of its ranges accepts declared extensions only. A range with declarations
/// does, whatever `verification` says. Source: the comments on `ExtensionRangeOptions` in
/// descriptor.proto.
fn requires_declarations(message: Message<'_>) -> bool {
    message.extension_range_options().flatten().any(|options| {
        options.get_enum_name(message.tree, "verification") == Some("DECLARATION")
            || options.get(message.tree, "declaration").is_some()
    })
}

/// An extension that keeps to the old declaration does not compile with the new
/// one; an extension that follows a new type reads old values differently.
fn compare_effects(
    was: Option<&ExtensionDeclaration>,
    is: Option<&ExtensionDeclaration>,
) -> Effects {
    let notations = [Surface::Json, Surface::Text];
    match (was, is) {
        // Nobody could use it.
        (None | Some(ExtensionDeclaration { reserved: true, .. }), Some(_)) => Effects::NONE,
        // Its number can be given away.
        (_, None) => Effects::backward(&[Surface::Wire]) | Effects::backward(SOURCES),
        (Some(_), Some(ExtensionDeclaration { reserved: true, .. })) => {
            Effects::backward(&notations) | Effects::backward(SOURCES)
        }
        (Some(was), Some(is)) if was.ty != is.ty || was.repeated != is.repeated => {
            Effects::both(Surface::NOTATIONS) | Effects::backward(SOURCES)
        }
        (Some(_), Some(_)) => Effects::both(&notations) | Effects::backward(SOURCES),
    }
}

const SOURCES: &[Surface] =
    &[Surface::SourceCpp, Surface::SourceGo, Surface::SourceJava, Surface::SourcePython];

/// Reads a name that may begin with the dot of a full name.
fn read_name(text: Option<&str>) -> String {
    text.unwrap_or_default().trim_start_matches('.').to_owned()
}

fn describe(declaration: Option<&ExtensionDeclaration>) -> String {
    declaration.map_or_else(|| "is not declared".to_owned(), |it| format!("is {it}"))
}
