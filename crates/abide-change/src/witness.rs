//! A value that shows a break, and the effects that such values prove.

use crate::effects::Effects;
use crate::show::shorten;
use crate::surface::{Direction, Surface};

/// A value that shows a break, replayed before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The surface on which it shows the break.
    pub surface: Surface,
    /// The direction that it proves: the old side wrote it for backward, the new side for forward.
    pub direction: Direction,
    /// The full name of its type on the side that wrote it.
    pub message: String,
    /// The full name of its type on the side that reads it.
    pub reader: String,
    /// The value, in JSON on the surface `json` and in text format elsewhere.
    pub value: String,
    /// Its bytes as read: the wire encoding on `wire` and `validation`, or else the
    /// text.
    pub bytes: Vec<u8>,
    /// The behaviour of the reader: one lower-case phrase.
    pub observed: String,
}

impl Witness {
    /// The value as in reports for people: shortened, with repetitions counted.
    pub fn shown(&self) -> String {
        shorten(&self.value)
    }
}

/// Effects on encodings, each with a witness.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The proven effects.
    pub effects: Effects,
    /// The smallest value for each effect: backward before forward, and wire before
    /// JSON before text.
    pub witnesses: Vec<Witness>,
}

impl Proof {
    /// The proof that consists of this witness.
    pub fn of(witness: Witness) -> Proof {
        let mut proof = Proof::default();
        proof.add(witness);
        proof
    }

    pub(crate) fn add(&mut self, witness: Witness) {
        if self.effects.contains(witness.surface, witness.direction) {
            return;
        }
        self.effects.insert(witness.surface, witness.direction);
        let rank = |it: &Witness| (it.direction, it.surface);
        let at = self.witnesses.partition_point(|known| rank(known) < rank(&witness));
        self.witnesses.insert(at, witness);
    }

    /// The proof limited to some surfaces.
    #[must_use]
    pub fn on(mut self, surfaces: &[Surface]) -> Proof {
        self.witnesses.retain(|it| surfaces.contains(&it.surface));
        Proof { effects: self.effects.on(surfaces), ..self }
    }
}
