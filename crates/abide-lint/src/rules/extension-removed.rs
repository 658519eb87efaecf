use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Part};

use crate::checks::{allows_extension, conversions, full_names};
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "extension-removed",
    summary: "an extension that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::EXTENSION_DELETIONS, &[BUF_RANGE]],
    spares_work_in_progress: true,
    page: include_str!("extension-removed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

/// The rule of buf about a number that no extension may have any more.
const BUF_RANGE: &str = "buf:EXTENSION_MESSAGE_NO_DELETE";

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(old) = change.old().filter(|it| it.is_extension()) else { return };
    if let Some(new) = diff.find_converted_new(old) {
        let mut aliases = full_names::collect_deletion_aliases(diff, Element::Field(old), None);
        // A field can only have a number that no extension may have.
        aliases.push(BUF_RANGE);
        conversions::report_converted(diff, old, new, sink).aliases(&aliases);
        return;
    }
    let holder = old.extendee().and_then(|it| diff.new_message(it));
    // One that replaced another extension may have its name.
    let moved = diff.new.extensions_named(&old.full_name()).find(|it| it.extendee() == holder);
    if let Some(new) = moved.filter(|_| change.new().is_none() && holder.is_some()) {
        let message = format!(
            "extension `{}` moved from number {} to {}",
            old.full_name(),
            old.number(),
            new.number()
        );
        let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
        finding.fact(old.number().to_string()).breaks(Effects::backward(&[Surface::Wire]));
        finding.source(diff, Change::Both { old, new }.map(Element::Field));
        finding.proven(diff.prover().prove_namesakes(old, new));
        finding.label(new.place(Part::Name), "this extension now has the name");
        if let Some(gone) = finding.change.as_mut().and_then(|it| it.gone.as_mut()) {
            gone.put_back = format!("give `{}` its number {} back", new.name(), old.number());
        }
        return;
    }
    let Some(finding) = full_names::report_removed(diff, change.map(Element::Field), sink) else {
        return;
    };
    finding.fact(old.number().to_string());
    if holder.is_some_and(|it| allows_extension(it, old.number())) {
        // The next extension that takes the number would read old data as its
        // own.
        finding.breaks(Effects::backward(&[Surface::Wire]));
    }
}
