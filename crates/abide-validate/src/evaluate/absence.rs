//! Decides whether constraints reject the absence of a field or oneof.

use abide_schema::value;
use abide_schema::{Field, MessageId, Oneof, Tree};

use super::{Evaluation, evaluate};
use crate::annotations::{find_required_oneof, read_facets};

/// Returns true if a message of this type without the field is rejected for that reason, as
/// with a new required field.
pub fn rejects_absence(field: Field<'_>) -> bool {
    let Some(message) = field.containing_message() else { return false };
    if read_facets(field).is_empty() {
        return false;
    }
    evaluate_absent(field.tree, message.id).violations.iter().any(|it| it.field == Some(field.id))
}

/// Returns true if a message of this type is rejected if no member of the oneof is set.
pub fn rejects_absence_of_oneof(oneof: Oneof<'_>) -> bool {
    if find_required_oneof(oneof).is_none() {
        return false;
    }
    let evaluation = evaluate_absent(oneof.message().tree, oneof.message().id);
    evaluation.violations.iter().any(|it| it.field.is_none() && it.path == oneof.name())
}

fn evaluate_absent(tree: &Tree, ty: MessageId) -> Evaluation {
    evaluate(tree, &value::Message::new(ty))
}
