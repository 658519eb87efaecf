//! Reports about the behaviors of fields (`google.api.field_behavior`).
//!
//! AIP-203 lists which changes of them are incompatible with existing clients, and which are not.

use std::sync::OnceLock;

use abide_change::option::word;
use abide_change::{Change, Diff, Direction, Holder, operation_type};
use abide_schema::{Element, Field, File, Message, MessageId, Part, Service, Tree};
use rustc_hash::FxHashSet;

use crate::finding::{Finding, Severity};
use crate::location::Location;
use crate::rule::{Context, Sink};

/// The messages that calls carry, on one side.
#[derive(Debug)]
struct Calls {
    requests: FxHashSet<MessageId>,
    responses: FxHashSet<MessageId>,
}

/// The messages that calls carry, on the old side and the new one.
#[derive(Debug, Default)]
pub(crate) struct CarriedByCalls([OnceLock<Calls>; 2]);

/// Who sends a message in a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// Clients, and perhaps services as well; or no method of the trees carries it.
    Anybody,
    ClientsAlone,
    ServicesAlone,
}

impl CarriedByCalls {
    fn sender<'t>(&self, diff: &Diff<'t>, old: Option<Message<'t>>, new: Message<'t>) -> Sender {
        let [before, after] = &self.0;
        let before = before.get_or_init(|| Calls::of(diff, diff.old, Direction::Backward));
        let after = after.get_or_init(|| Calls::of(diff, diff.new, Direction::Forward));
        let is_in = |of: fn(&Calls) -> &FxHashSet<MessageId>| {
            of(after).contains(&new.id) || old.is_some_and(|it| of(before).contains(&it.id))
        };
        match (is_in(|it| &it.requests), is_in(|it| &it.responses)) {
            (true, false) => Sender::ClientsAlone,
            (false, true) => Sender::ServicesAlone,
            (true, true) | (false, false) => Sender::Anybody,
        }
    }
}

impl Calls {
    fn of<'t>(diff: &Diff<'t>, tree: &'t Tree, side: Direction) -> Calls {
        let methods = || tree.files().flat_map(File::services).flat_map(Service::methods);
        let operations = methods().flat_map(|it| {
            let parts = ["response_type", "metadata_type"];
            parts.into_iter().filter_map(move |part| operation_type(it, part))
        });
        let operations = operations.filter_map(|name| tree.message_named(&name));
        let inputs = methods().filter_map(|it| it.input());
        let outputs = methods().filter_map(|it| it.output()).chain(operations);
        Calls {
            requests: held(diff, side, inputs.collect()),
            responses: held(diff, side, outputs.collect()),
        }
    }
}

/// These messages, and all that their fields and extensions hold.
fn held<'t>(diff: &Diff<'t>, side: Direction, mut open: Vec<Message<'t>>) -> FxHashSet<MessageId> {
    let mut found = FxHashSet::default();
    while let Some(message) = open.pop() {
        if found.insert(message.id) {
            let fields = message.fields().chain(diff.extensions(side, message));
            open.extend(fields.filter_map(Field::message_type));
        }
    }
    found
}

/// A behavior that a field gained or lost.
struct BehaviorChange<'t> {
    behavior: &'t str,
    is_added: bool,
}

impl BehaviorChange<'_> {
    /// Whether AIP-203 lists the change as incompatible. `before` and `after` are all behaviors of
    /// the field.
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

    /// Whether nobody can notice it, because of who sends the message of the field.
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
    diff: &Diff<'t>,
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
    let place = Holder::Element(Element::Field(new));
    let entries = place.each_custom("google.api.field_behavior");
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
