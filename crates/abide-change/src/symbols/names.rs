//! The names of a message's members in generated code. Each depends on those of its
//! siblings, so that all of them are found together, once for a message.

use std::sync::Arc;

use abide_schema::{Field, Message, MessageId};

use super::cpp::CppNames;
use super::go::GoNames;
use super::java::JavaNames;
use crate::memo::Memo;

/// The names of the members of each message of a tree.
#[derive(Debug, Default)]
pub(crate) struct GeneratedNames(Memo<MessageId, MemberNames>);

/// The names of the members of one message, in the languages in which they depend
/// on each other.
#[derive(Debug)]
pub(super) struct MemberNames {
    pub(super) cpp: CppNames,
    pub(super) go: GoNames,
    pub(super) java: JavaNames,
}

impl GeneratedNames {
    pub(super) fn of(&self, message: Message<'_>) -> Arc<MemberNames> {
        self.0.of(message.id, || MemberNames {
            cpp: CppNames::of(message),
            go: GoNames::of(message),
            java: JavaNames::of(message),
        })
    }
}

/// The place of a field among the fields of its message.
pub(super) fn place_of(field: Field<'_>, message: Message<'_>) -> usize {
    let first = message.fields().next().map_or(0, |it| it.id.index);
    field.id.index.wrapping_sub(first) as usize
}
