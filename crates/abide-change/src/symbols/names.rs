//! The names of a message's members in generated code. Each depends on those of its
//! siblings, so that all of them are found together, once for a message.

pub(super) mod cpp;
pub(super) mod go;
pub(super) mod java;

use std::sync::Arc;

use abide_schema::{Message, MessageId};

use self::cpp::CppNames;
use self::go::GoNames;
use self::java::JavaNames;
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
        self.0.get_or_compute(message.id, || MemberNames {
            cpp: CppNames::of(message),
            go: GoNames::of(message),
            java: JavaNames::of(message),
        })
    }
}
