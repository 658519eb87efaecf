//! Facts that are the same for many proofs, found once.

use abide_schema::{EnumId, FieldId, OneofId};

use crate::memo::Memo;
use crate::surface::{Direction, Surface};

/// The facts that are the same for every proof about one enum or oneof.
#[derive(Debug, Default)]
pub(crate) struct ProofCache {
    pub(super) carriers: Memo<(Direction, EnumId, EnumId), [Carrier]>,
    pub(super) joined: Memo<(Direction, Option<Surface>, OneofId), OneofMembers>,
}

/// The encoding, if it matters, and the writing and the reading field.
pub(super) type Carrier = (Option<Surface>, FieldId, FieldId);

/// The fields of the writing side that are members of one oneof on the reading
/// side, in the order of that oneof.
#[derive(Debug)]
pub(super) struct OneofMembers(pub(super) Vec<OneofMember>);

#[derive(Debug)]
pub(super) struct OneofMember {
    pub(super) field: FieldId,
    /// The oneof that it is a member of on the writing side.
    pub(super) oneof: Option<OneofId>,
    /// The index of the next field that is a member of another one.
    pub(super) next: usize,
}
