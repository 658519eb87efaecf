use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, EnumValue, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "enum-value-json-name-changed",
    summary: "an enum value whose text in JSON changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-json-name-changed.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Change::Both { old, new } = change else { return };
    // Without a text of its own, the name stands for it; `enum-value-renamed` reports another name.
    let is_named = old.json_text().is_none() && new.json_text().is_none();
    let was = old.json_text().unwrap_or(old.name());
    let is = new.json_text().unwrap_or(new.name());
    if is_named || was == is {
        return;
    }
    let owner = new.parent().relative_name();
    let message = format!(
        "`{owner}.{}` is {is} in JSON, and was {was}",
        new.name(),
        is = backtick(is),
        was = backtick(was)
    );
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Whole, message);
    finding.changed(was, is);
    let numbers: [&[i32]; 2] = [&[old.number()], &[new.number()]];
    let proof = diff.prover().prove_enum(old.parent(), new.parent(), numbers);
    finding.proven(proof.on(&[Surface::Json]));
    if diff.is_for_others(old.parent()) {
        let is_read = |reader: EnumValue<'t>, text| {
            let read = reader.parent().value_in_json(text);
            read.is_some_and(|it| it.number() == reader.number())
        };
        if !is_read(new, was) {
            finding.breaks(Effects::backward(&[Surface::Json]));
        }
        if !is_read(old, is) {
            finding.breaks(Effects::forward(&[Surface::Json]));
        }
    }
    let option = backtick(format!("[(pb.enumvalue.json).string = \"{was}\"]"));
    finding.help(match old.json_text() {
        Some(_) => format!("write {option} to keep the old text"),
        None => {
            "remove the option `(pb.enumvalue.json).string`: a new value can have it".to_owned()
        }
    });
}
