use abide_schema::Part;
use abide_upgrade::{AdditionFault, find_impossible_additions};

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "addition-impossible",
    summary: "an addition to a candidate that an upgrade cannot carry along",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("addition-impossible.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for found in find_impossible_additions(context.upgrade_basis()) {
        let addition = found.addition;
        let (name, noun) = (addition.full_name(), addition.noun());
        let (problem, other) = match found.fault {
            AdditionFault::Number(other) => {
                (format!("has the number of `{}`", other.full_name()), Some(other))
            }
            AdditionFault::Name(other) => {
                (format!("has the name of `{}`", other.full_name()), Some(other))
            }
            AdditionFault::Reserved(other) => {
                let other_name = other.full_name();
                (format!("has a number or a name that `{other_name}` reserves"), Some(other))
            }
            AdditionFault::NoContainer(Some(other)) => {
                let other_name = other.full_name();
                (format!("is in a part of `{other_name}` that the next version lacks"), Some(other))
            }
            // The type may lie in another part.
            AdditionFault::NoContainer(None) if context.partial => continue,
            AdditionFault::NoContainer(None) => {
                ("is in a type that the active version does not have".to_owned(), None)
            }
        };
        let message = format!("the added {noun} `{name}` {problem}");
        let place = addition.place(Part::Name);
        let finding = sink.report(place, addition.package().name(), name, message);
        finding
            .why("an upgrade carries additions along, and cannot make a candidate with this one");
        if let Some(other) = other {
            finding.label(other.place(Part::Name), "the active version has this");
            finding.fact(other.full_name());
        }
        finding.help(match found.fault {
            AdditionFault::NoContainer(_) => "move the addition, or delete it",
            _ => "give the addition another number and name, or delete it if the active version now has the \
                  same element",
        });
    }
}
