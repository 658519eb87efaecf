use abide_schema::{Field, File, Message, Tree, Type};

use super::custom_option_changed::JUDGED;
use crate::finding::{Location, Severity};
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::suggest;

pub(super) static RULE: Rule = Rule {
    id: "option-unmatched",
    summary: "a key of `[options]` that names no custom option",
    group: Group::Policy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("option-unmatched.md"),
    check: Check::Baseline(check),
};

fn check<'t>(context: &Context<'t>, old: &'t Tree, sink: &mut Sink) {
    let keys = &context.policy.option_keys;
    if keys.is_empty() || context.partial || context.is_slice() {
        return;
    }
    // An option that was removed counts for the change that removes it.
    let trees = [context.everywhere(), old];
    let files: Vec<File<'t>> = trees.into_iter().flat_map(Tree::files).collect();
    // A file that is not there may declare it.
    if files.iter().any(|it| it.imports().any(|import| import.file.is_none())) {
        return;
    }
    let options: Vec<Field<'t>> =
        files.into_iter().flat_map(File::all_fields).filter(is_option).collect();
    let names: Vec<String> = options.iter().map(|it| it.full_name()).collect();
    for (key, span) in keys {
        let judged = JUDGED.iter().find(|it| key.starts_with(it.trim_end_matches('.')));
        let (message, help) = if judged.is_some() {
            let message = format!("changes of `{key}` are judged by a rule of its own");
            (message, "set the severity of that rule in `[rules]`, and delete this key".to_owned())
        } else if !options.iter().zip(&names).any(|(option, name)| names_option(key, *option, name))
        {
            let wild = key.trim_end_matches('*').trim_end_matches('.');
            let help = if key.contains('*') && !wild.contains('*') && !wild.is_empty() {
                format!("patterns are not read here: `{wild}` stands for all that it contains")
            } else {
                let near = suggest(key, names.iter().map(String::as_str));
                near.unwrap_or_else(|| "correct the name, or delete the key".to_owned())
            };
            (format!("`{key}` is not the name of a custom option"), help)
        } else {
            continue;
        };
        let finding = sink.report(Location::config(*span), "", key, message);
        finding.fact(key).why("the setting has no effect: it guards nothing").help(help);
    }
}

/// Returns true if a field is a custom option: it extends an options message of `descriptor.proto`.
fn is_option(field: &Field<'_>) -> bool {
    field.extendee().map(Message::full_name).is_some_and(|it| {
        it.strip_prefix("google.protobuf.").is_some_and(|it| it.ends_with("Options"))
    })
}

/// Returns true if a path leads to a field in the value of an option.
fn is_inside(option: Field<'_>, path: &str) -> bool {
    let mut ty = option.ty();
    path.split('.').all(|name| {
        let Type::Message(id) = ty else { return false };
        let field = option.tree.message(id).field_named(name);
        ty = field.map_or(Type::Unresolved, Field::ty);
        field.is_some()
    })
}

/// Returns true if a key names an option, a field in its value, or the package or message that
/// declares it.
fn names_option(key: &str, option: Field<'_>, name: &str) -> bool {
    match key.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| is_inside(option, rest)),
        None => name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')),
    }
}
