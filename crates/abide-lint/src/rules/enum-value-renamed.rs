use abide_change::{Change, Comparison, Effects, Surface, split_value_names};
use abide_schema::{Element, EnumValue, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "enum-value-renamed",
    summary: "an enum value that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "buf:ENUM_VALUE_SAME_NAME",
        "protolock:NoChangingFieldNames",
        "google:ENUM_VALUE_REMOVAL",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-renamed.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Change::Both { old, new } = change else { return };
    if old.name() == new.name() {
        return;
    }
    let owner = old.parent().relative_name();
    let message = format!("`{owner}.{}` was renamed to `{}`", old.name(), new.name());
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Number, message);
    finding.changed(old.name(), new.name());
    let (was, is) = (old.number(), new.number());
    if was == is {
        finding.proven(diff.prover().prove_enum(old.parent(), new.parent(), [&[was], &[is]]));
    }
    finding.proven(diff.prover().prove_value_name((old.parent(), new.parent()), change));
    // Readers of one name refuse the other, wherever the enum is used.
    finding.breaks(Effects::both(&[Surface::Json, Surface::Text]));
    finding.source(diff, change.map(Element::EnumValue));
    let alias = format!(
        "keep `{}` and add `{}` after it as an alias, with `option allow_alias = true;`",
        old.name(),
        new.name()
    );
    if was != is {
        // Other tools know a value by its number, and `enum-value-number-changed` reports that.
        finding.aliases(&[]).help(format!("keep `{} = {was}`", old.name()));
    } else if are_unrelated(&split_name(old), &split_name(new)) {
        // Names alone do not tell a new word for a state from another state.
        finding.may_break(Effects::both(&[Surface::Wire])).at_least(Severity::Warning);
        finding.why(format!(
            "the names have nothing in common; if they mean different things, data written as \
             `{}` is read as `{}`",
            old.name(),
            new.name()
        ));
        finding.help(format!(
            "keep `{0} = {was}` and give `{1}` a number that was never used; if both mean the \
             same, add `{1}` after `{0}` as an alias, with `option allow_alias = true;`",
            old.name(),
            new.name()
        ));
    } else {
        finding.help(alias);
    }
}

/// The words of the name of a value, without what is only style.
fn split_name(value: EnumValue<'_>) -> Vec<String> {
    let each = value.parent().values().zip(split_value_names(value.parent()));
    each.filter(|(it, _)| *it == value).flat_map(|(_, words)| words).collect()
}

/// Words for a value that means nothing by itself: one is as good as another.
const NOTHING: &[&str] =
    &["default", "invalid", "no", "none", "null", "undefined", "unknown", "unset", "unspecified"];

/// Words for a value that nobody is to use any more.
const RETIRED: &[&str] = &["deprecated", "obsolete", "removed", "reserved", "unused"];

/// Words, and beginnings of words, that turn a meaning around.
const NEGATIONS: &[&str] = &["de", "dis", "im", "in", "ir", "no", "non", "not", "un", "without"];

/// Returns true if two names have no common meaning: no common word, no short form and no
/// misspelling, or one is the opposite of the other.
fn are_unrelated(old: &[String], new: &[String]) -> bool {
    if has_any(old, NOTHING) && has_any(new, NOTHING)
        || has_any(old, RETIRED)
        || has_any(new, RETIRED)
    {
        return false;
    }
    let (before, after) = (collect_numbers(old), collect_numbers(new));
    if !before.is_empty() && !after.is_empty() && before != after {
        return true;
    }
    let (one, other) = (old.concat(), new.concat());
    if is_negation(&one, &other)
        || is_negation(&other, &one)
        || has_any(old, NEGATIONS) != has_any(new, NEGATIONS)
    {
        return true;
    }
    let shares = old.iter().any(|one| new.iter().any(|other| are_related(one, other)));
    !shares && find_nearest(&one, [other.as_str()]).is_none()
}

fn has_any(words: &[String], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(&word.as_str()))
}

fn collect_numbers(words: &[String]) -> Vec<&String> {
    words.iter().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Returns true if a name is the other one with a negation before it: `unhealthy` of `healthy`, and
/// `disabled` of `enabled`.
fn is_negation(name: &str, other: &str) -> bool {
    let mut rests = NEGATIONS.iter().filter_map(|negation| name.strip_prefix(*negation));
    rests.any(|rest| !rest.is_empty() && (rest == other || Some(rest) == other.strip_prefix("en")))
}

/// Returns true if two words are equal, or one is a short form of the other.
fn are_related(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    one == other || short.len() >= 3 && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::are_unrelated;

    #[test]
    fn names_are_unrelated_if_they_say_nothing_of_each_other() {
        let unrelated = |old: &str, new: &str| {
            let words = |it: &str| it.split(' ').map(str::to_owned).collect::<Vec<_>>();
            are_unrelated(&words(old), &words(new))
        };
        for (old, new) in [
            ("error", "healthy"),
            ("healthy", "unhealthy"),
            ("enabled", "disabled"),
            ("set", "not set"),
            ("level 1", "level 2"),
            ("red", "crimson"),
        ] {
            assert!(unrelated(old, new) && unrelated(new, old), "{old} {new}");
        }
        for (old, new) in [
            ("unknown", "unspecified"),
            ("config", "configuration"),
            ("error", "internal error"),
            ("canceled", "cancelled"),
            ("tls v 1", "tls 1"),
            ("error", "reserved 3"),
        ] {
            assert!(!unrelated(old, new) && !unrelated(new, old), "{old} {new}");
        }
    }
}
