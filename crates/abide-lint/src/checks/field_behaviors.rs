//! Reports about the behaviors of fields (`google.api.field_behavior`).
//!
//! AIP-203 lists which changes of them are incompatible with existing clients, and which are not.

use abide_change::option::word;
use abide_change::{Change, Comparison, OptionOwner};
use abide_schema::{Element, Field, Part};

use crate::finding::{Finding, Location, Severity};
use crate::rule::{Context, Sender, Sink};

/// A behavior that a field gained or lost.
struct BehaviorChange<'t> {
    behavior: &'t str,
    is_added: bool,
}

impl BehaviorChange<'_> {
    /// Returns true if AIP-203 lists the change as incompatible. `before` and `after` are all
    /// behaviors of the field.
    fn is_incompatible(&self, before: &[&str], after: &[&str]) -> bool {
        // Clients that could not write the field before lose nothing.
        let was_fixed = before.iter().any(|it| ["OUTPUT_ONLY", "IMMUTABLE"].contains(it));
        match (self.behavior, self.is_added) {
            ("REQUIRED" | "OUTPUT_ONLY" | "INPUT_ONLY", true) => true,
            ("IMMUTABLE", true) => !was_fixed && !before.contains(&"IDENTIFIER"),
            ("OUTPUT_ONLY", false) => !after.contains(&"IDENTIFIER"),
            ("IDENTIFIER", false) => true,
            _ => false,
        }
    }

    /// Decides whether nobody can notice it, because of who sends the message of the field.
    fn is_moot(&self, sender: Sender) -> Option<&'static str> {
        match (self.behavior, sender) {
            ("REQUIRED" | "OUTPUT_ONLY" | "IMMUTABLE" | "IDENTIFIER", Sender::ServicesAlone) => {
                Some("only responses hold the field")
            }
            ("INPUT_ONLY", Sender::ClientsAlone) => Some("only requests hold the field"),
            _ => None,
        }
    }
}

/// Reports the behaviors that a field gained or lost: those that are incompatible, or the others.
/// `add` says more of each.
pub(crate) fn report<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<Field<'t>>,
    sink: &mut Sink,
    incompatible: bool,
    mut add: impl FnMut(&mut Finding, &str, bool, &[&str]),
) {
    let Some(new) = change.new() else { return };
    // Nobody relies on the fields of a new message.
    let Some(holder) = new.containing_message() else { return };
    let Some(old_holder) = diff.old_message(holder) else { return };
    let old = change.old();
    let before: Vec<&str> = old.iter().flat_map(|it| it.behaviors()).map(|it| it.0).collect();
    let after: Vec<&str> = new.behaviors().map(|it| it.0).collect();
    let lost = before.iter().filter(|it| !after.contains(it));
    let lost = lost.map(|&behavior| BehaviorChange { behavior, is_added: false });
    // A new field changes nothing for old clients unless they must set it.
    let is_new =
        |behavior: &str| !before.contains(&behavior) && (old.is_some() || behavior == "REQUIRED");
    let gained = after.iter().filter(|it| is_new(it));
    let gained = gained.map(|&behavior| BehaviorChange { behavior, is_added: true });
    let place = OptionOwner::Element(Element::Field(new));
    let entries = place.collect_custom("google.api.field_behavior");
    let name = new.relative_name();
    for it in lost.chain(gained).filter(|it| it.is_incompatible(&before, &after) == incompatible) {
        let behavior = it.behavior;
        let message = match (it.is_added, old) {
            (true, Some(_)) => format!("field `{name}` is now `{behavior}`"),
            (true, None) => format!("new field `{name}` is `{behavior}`"),
            (false, _) => format!("field `{name}` is no longer `{behavior}`"),
        };
        let entry = entries.iter().copied().find(|it| word(new.tree, it) == Some(behavior));
        let location = Location::tree(place.place(entry));
        let old_place = old.map(|it| it.place(Part::Whole));
        let package = new.package().name();
        let finding = sink.change_at(location, old_place, package, new.full_name(), message);
        finding.fact(behavior).fact(if it.is_added { "added" } else { "removed" });
        // Of a part of a tree nobody knows which services it has.
        let sender = match context.partial {
            true => Sender::Anybody,
            false => context.carried_by_calls().sender(diff, Some(old_holder), holder),
        };
        match it.is_moot(sender) {
            Some(reason) => {
                finding.at_most(Severity::Note, reason);
            }
            None => add(finding, behavior, it.is_added, &before),
        }
    }
}
