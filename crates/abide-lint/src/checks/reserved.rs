//! Reports about numbers and names that messages and enums have set aside.

use abide_change::{Change, Comparison, Direction, Effects, Surface};
use abide_schema::{Edition, Element, Field, File, Message, Part, value};
use rustc_hash::FxHashSet;

use crate::finding::Finding;
use crate::rule::Sink;

/// Reports an element that uses a number, a name or both that its message or enum
/// had reserved. `was` and `is` are its old and new number and name.
pub(crate) fn report_reused<'t>(
    diff: &Comparison<'t>,
    new: Element<'t>,
    was: Option<(i32, &str)>,
    is: (i32, &str),
    (number_reserved, name_reserved): (bool, bool),
    sink: &mut Sink,
) {
    let number = number_reserved && was.is_none_or(|it| it.0 != is.0);
    let name = name_reserved && was.is_none_or(|it| it.1 != is.1);
    let (part, what, surfaces): (_, String, &[Surface]) = match (number, name) {
        (false, false) => return,
        (true, false) => (Part::Number, format!("number {}", is.0), &[Surface::Wire]),
        (false, true) => (Part::Name, format!("name `{}`", is.1), &[Surface::Json, Surface::Text]),
        (true, true) => (Part::Number, format!("number {} and its name", is.0), Surface::NOTATIONS),
    };
    let were = if number && name { "were" } else { "was" };
    let kind = new.noun();
    let element = new.relative_name();
    let message = format!("{kind} `{element}` uses the {what}, which {were} reserved");
    let finding = sink.change(diff, Change::Added(new), part, message);
    finding.fact(what).breaks(Effects::backward(surfaces));
    let had = if number { "number" } else { "name" };
    finding.why(format!("old data of another {kind} with this {had} is read as this {kind}"));
    finding.help("choose a number and a name that were never used, and reserve these again");
}

/// The first field or extension of a type whose number the type in its place neither has nor
/// reserves, here or in the types of their fields: a field that takes the number
/// later would read old data as its own.
pub(crate) fn find_abandoned<'t>(
    diff: &Comparison<'t>,
    was: Message<'t>,
    is: Message<'t>,
) -> Option<(Field<'t>, Message<'t>)> {
    let (mut seen, mut open) = (FxHashSet::default(), vec![(was, is)]);
    while let Some((was, is)) = open.pop() {
        // A change of a type that both sides have is reported there.
        if diff.new_message(was) == Some(is) || !seen.insert((was.id, is.id)) {
            continue;
        }
        for field in was.fields().chain(diff.extensions(Direction::Backward, was)) {
            let extension = || {
                let mut all = diff.extensions(Direction::Forward, is);
                all.find(|it| it.number() == field.number())
            };
            match is.field_numbered(field.number()).or_else(extension) {
                Some(twin) => open.extend(field.message_type().zip(twin.message_type())),
                None if is.is_reserved_number(field.number()) => {}
                None => return Some((field, is)),
            }
        }
    }
    None
}

/// Returns why it matters that a type has no field in the place of `lost`.
pub(crate) fn describe_abandoned(lost: Field<'_>, by: Message<'_>) -> String {
    format!(
        "`{}` neither has nor reserves number {} of `{}`, so a field that takes it later reads old \
         data as its own",
        by.full_name(),
        lost.number(),
        lost.relative_name()
    )
}

/// Returns true if a message allows an extension with a number, and no declaration reserves it.
pub(crate) fn allows_extension(extendee: Message<'_>, number: i32) -> bool {
    let tree = extendee.tree;
    let ranges = extendee.extension_ranges().iter().zip(extendee.extension_range_options());
    let ranges = ranges.filter(|(it, _)| (it.start..it.end).contains(&number));
    let reserved = |options: &value::Message| {
        let declared = options.get_all(tree, "declaration");
        declared.filter_map(|it| it.value.as_message()).any(|it| {
            it.get_i64(tree, "number") == Some(number.into())
                && it.get_bool(tree, "reserved") == Some(true)
        })
    };
    ranges.map(|(_, options)| options).any(|options| !options.is_some_and(reserved))
}

/// Tells a removal that reserves what it leaves from one that does not.
pub(crate) fn add_reuse_facts(finding: &mut Finding, number: bool, name: bool) {
    for (what, is_reserved) in [("number", number), ("name", name)] {
        if !is_reserved {
            finding.fact(format!("{what} not reserved"));
        }
    }
}

/// Returns how a message keeps a number and a name for nobody; `None` if it already does. What
/// extensions may have cannot be reserved.
pub(crate) fn suggest_reservation(
    holder: Message<'_>,
    number: Option<i32>,
    name: Option<&str>,
) -> Option<String> {
    let statements = format_statements(holder.file(), number, name);
    let first = match number.filter(|it| holder.allows_extension(*it)) {
        Some(number) => format!("take {number} out of `extensions` and "),
        None => String::new(),
    };
    let add = || format!("{first}add `{statements}` to message `{}`", holder.name());
    (!statements.is_empty()).then(add)
}

/// The statements that reserve a number and a name in a file. Numbers and names
/// need separate statements, and editions write names without quotes.
pub(crate) fn format_statements(file: File<'_>, number: Option<i32>, name: Option<&str>) -> String {
    let quoted = file.decl().edition < Edition::Edition2023;
    let name = name.map(|it| if quoted { format!("\"{it}\"") } else { it.to_owned() });
    let parts = number.map(|it| it.to_string()).into_iter().chain(name);
    parts.map(|it| format!("reserved {it};")).collect::<Vec<String>>().join(" ")
}
