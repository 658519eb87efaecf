//! Renders the plan of `abide bump`: the version that each package needs.

use std::fmt::Write;

use abide_lint::{Bump, BumpReason, PackagePlan, Plan, PlanVerdict, Status, pluralize};
use abide_schema::PackageVersion;
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value, json};

use super::calendar_note;
use super::context::{Style, write_styled};
use super::json_object::insert_some;

/// The number of reasons that are shown per package without `--verbose`.
const REASONS: usize = 5;

/// A plan, and what else there is to say of it.
pub(crate) struct PlanReport<'a> {
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// The state of the calendar.
    pub(crate) status: &'a Status<'a>,
    /// The files that were written.
    pub(crate) written: &'a [String],
    /// The line that says what comes next.
    pub(crate) next: Option<&'static str>,
}

/// For people: the packages with something to do, then the totals, then the calendar.
pub(super) fn render_human(report: &PlanReport<'_>, style: Style) -> Vec<u8> {
    let PlanReport { plan, status, written, next } = *report;
    let mut text = String::new();
    for package in plan.packages.iter().filter(|it: &&PackagePlan| {
        style.verbose || it.verdict != PlanVerdict::Recorded || it.required != Bump::None
    }) {
        write_package(&mut text, package, style);
    }
    if !style.quiet {
        let yet = if written.is_empty() { "to record" } else { "written" };
        let parts = [
            (plan.count(PlanVerdict::Recorded), "recorded"),
            (plan.count(PlanVerdict::Unrecorded), yet),
            (plan.count(PlanVerdict::Refused), "refused"),
            (plan.count(PlanVerdict::Early), "early"),
            (plan.count(PlanVerdict::Frozen), "frozen and changed"),
            (plan.count(PlanVerdict::Waiting), "waiting"),
            (plan.count(PlanVerdict::Unknown), "unknown"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let packages = pluralize(plan.packages.len(), "package");
        let sum = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{packages}{sum}");
        for path in written {
            let _ = writeln!(text, "wrote {}", escape_unprintable(path));
        }
    }
    text += &calendar_note::render_human(status, style);
    if let Some(next) = next.filter(|_| !style.quiet) {
        let _ = writeln!(text, "{next}");
    }
    text.into_bytes()
}

fn write_package(text: &mut String, package: &PackagePlan, style: Style) {
    let name = if package.name.is_empty() { "(no package)" } else { &package.name };
    let (recorded, released) = (package.recorded.as_ref(), package.from.as_ref());
    // The record may have been set back to a version before the release.
    let behind = recorded.filter(|it| released.is_some_and(|released| *it < released));
    let from = if behind.is_some() { released } else { recorded.or(released) };
    // The same colours as in the history.
    let code = match package.verdict {
        PlanVerdict::Recorded => "32",
        PlanVerdict::Unrecorded | PlanVerdict::Waiting => "33;1",
        PlanVerdict::Refused | PlanVerdict::Early | PlanVerdict::Frozen => "31;1",
        PlanVerdict::Unknown => "35;1",
    };
    write_styled(text, style.color, code, &escape_unprintable(name));
    let _ = match (from, &package.to) {
        (None, Some(to)) => write!(text, " {to} (first version)"),
        (Some(from), Some(to)) if from != to => write!(text, " {from} → {to}"),
        (Some(from), _) => write!(text, " {from}"),
        (None, None) => Ok(()),
    };
    match package.verdict {
        PlanVerdict::Refused => text.push_str(" has a breaking change, which is refused"),
        PlanVerdict::Early => text.push_str(" is a new major outside of the release window"),
        PlanVerdict::Frozen => text.push_str(" is frozen, and its change is refused"),
        PlanVerdict::Unknown => {
            text.push_str(match package.is_as_recorded() {
                Some(_) => " changed",
                None => " may have changed since it was recorded",
            });
            text.push_str("; name the last release with `--against SOURCE`");
        }
        PlanVerdict::Waiting => {
            let broken = package.waits_for.as_deref().unwrap_or_default();
            let _ =
                write!(text, " waits until the break in {} is fixed", escape_unprintable(broken));
        }
        PlanVerdict::Unrecorded if package.hash_new.is_none() => text.push_str(" was removed"),
        PlanVerdict::Unrecorded | PlanVerdict::Recorded => {
            if package.required != Bump::None && from.is_some() {
                let _ = write!(text, " ({}", package.required.name());
                text.push_str(if package.catches_up { ", to catch up)" } else { ")" });
            }
            if package.verdict == PlanVerdict::Recorded {
                text.push_str(", recorded");
            } else if from == package.to.as_ref() {
                text.push_str(match package.is_as_recorded() {
                    Some(true) => ", not recorded here yet",
                    _ => ", with a new hash",
                });
            }
        }
    }
    if let Some(recorded) = behind {
        let _ = write!(text, ", but {recorded} is recorded");
    }
    text.push('\n');
    // A first version does not depend on what changed before it.
    let is_error =
        matches!(package.verdict, PlanVerdict::Refused | PlanVerdict::Early | PlanVerdict::Frozen);
    let matter = from.is_some() || is_error;
    let reasons = if matter { &package.reasons[..] } else { &[] };
    let shown_reasons = if style.verbose { reasons.len() } else { REASONS };
    for reason in reasons.iter().take(shown_reasons) {
        let _ = writeln!(
            text,
            "  {}: {}",
            reason.bump.name(),
            escape_unprintable(&format_reason(reason))
        );
    }
    if reasons.len() > shown_reasons {
        let _ = writeln!(text, "  and {} more (-v)", reasons.len() - shown_reasons);
    }
    if package.verdict == PlanVerdict::Early {
        text.push_str("  keep it an alpha until the window opens, or waive it with a reason\n");
    }
    if package.verdict == PlanVerdict::Frozen {
        text.push_str("  undo it and make it in the active major, or waive it with a reason\n");
    }
    if package.verdict == PlanVerdict::Refused {
        let candidates: Vec<&str> = package.candidates.iter().map(String::as_str).collect();
        let _ = match &candidates[..] {
            [] if PackageVersion::from_package(&package.name).is_some() => {
                writeln!(text, "  undo it, or waive it with a reason")
            }
            [] => writeln!(
                text,
                "  undo it, move it to a package with a version, or waive it with a reason"
            ),
            candidates => writeln!(
                text,
                "  undo it and make it in the candidate `{}`, or waive it with a reason",
                candidates.join("` or `")
            ),
        };
    }
}

fn format_reason(reason: &BumpReason) -> String {
    let aside = match reason.bump {
        _ if reason.waived => " (a waived break)",
        Bump::Patch if reason.via.is_empty() => " (a security fix)",
        _ => "",
    };
    let rule = reason.rule.map(|rule| format!(" [{rule}]")).unwrap_or_default();
    format!("{reason}{rule}{aside}")
}

/// JSON Lines: one object per package, then the calendar if there is one, then the summary.
pub(super) fn render_json(report: &PlanReport<'_>, _: Style) -> Vec<u8> {
    let PlanReport { plan, status, written, .. } = *report;
    let mut lines: Vec<Value> = plan.packages.iter().map(build_package).collect();
    lines.extend(calendar_note::render_json(status));
    let mut summary = json!({
        "kind": "summary",
        "packages": plan.packages.len(),
    });
    if let Value::Object(summary) = &mut summary {
        let verdicts = [
            PlanVerdict::Recorded,
            PlanVerdict::Unrecorded,
            PlanVerdict::Refused,
            PlanVerdict::Early,
            PlanVerdict::Frozen,
            PlanVerdict::Waiting,
            PlanVerdict::Unknown,
        ];
        for verdict in verdicts {
            summary.insert(verdict.word().to_owned(), plan.count(verdict).into());
        }
        summary.insert("required_bump".to_owned(), plan.required_bump().name().into());
        if !written.is_empty() {
            summary.insert("written".to_owned(), written.into());
        }
    }
    lines.push(summary);
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn build_package(package: &PackagePlan) -> Value {
    let mut object = Map::new();
    insert_some(&mut object, "kind", Some("package".into()));
    insert_some(&mut object, "package", Some(package.name.as_str().into()));
    insert_some(&mut object, "verdict", Some(package.verdict.word().into()));
    insert_some(&mut object, "from", package.from.as_ref().map(text_value));
    insert_some(&mut object, "required", Some(package.required.name().into()));
    insert_some(&mut object, "to", package.to.as_ref().map(text_value));
    insert_some(&mut object, "recorded", package.recorded.as_ref().map(text_value));
    insert_some(&mut object, "catches_up", package.catches_up.then(|| true.into()));
    insert_some(&mut object, "waits_for", package.waits_for.as_deref().map(Value::from));
    insert_some(&mut object, "hash_old", package.hash_old.as_ref().map(text_value));
    insert_some(&mut object, "hash_new", package.hash_new.as_ref().map(text_value));
    insert_some(&mut object, "reasons", Some(package.reasons.iter().map(build_reason).collect()));
    Value::Object(object)
}

fn text_value(it: &impl std::fmt::Display) -> Value {
    it.to_string().into()
}

fn build_reason(reason: &BumpReason) -> Value {
    let mut object = Map::new();
    if let Some(rule) = reason.rule {
        object.insert("rule".to_owned(), rule.into());
    }
    object.insert("element".to_owned(), reason.element.as_str().into());
    object.insert("bump".to_owned(), reason.bump.name().into());
    object.insert("message".to_owned(), reason.message.as_str().into());
    if !reason.via.is_empty() {
        object.insert("via".to_owned(), reason.via.as_slice().into());
    }
    if reason.waived {
        object.insert("waived".to_owned(), true.into());
    }
    Value::Object(object)
}
