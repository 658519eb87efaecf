//! The messages that calls carry, and who sends them.

use std::sync::OnceLock;

use abide_change::{Diff, Direction, resolve_operation_type};
use abide_schema::{Field, File, Message, MessageId, Service, Tree};
use rustc_hash::FxHashSet;

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
pub(crate) enum Sender {
    /// Clients, and perhaps services as well; or no method of the trees carries it.
    Anybody,
    ClientsAlone,
    ServicesAlone,
}

impl CarriedByCalls {
    pub(crate) fn sender<'t>(
        &self,
        diff: &Diff<'t>,
        old: Option<Message<'t>>,
        new: Message<'t>,
    ) -> Sender {
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
            parts.into_iter().filter_map(move |part| resolve_operation_type(it, part))
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
