//! What a constraint says of one value.

/// What a constraint says of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Accepted,
    /// Why, in one phrase.
    Rejected(String),
    /// What cannot be told.
    Unknown(String),
}

impl Verdict {
    pub(super) fn when(accepted: bool) -> Verdict {
        if accepted { Verdict::Accepted } else { Verdict::Rejected(String::new()) }
    }

    /// Both must accept; a rejection counts more than what is unknown.
    #[must_use]
    pub(super) fn and(self, other: impl FnOnce() -> Verdict) -> Verdict {
        match self {
            Verdict::Accepted => other(),
            Verdict::Rejected(_) => self,
            Verdict::Unknown(_) => match other() {
                rejected @ Verdict::Rejected(_) => rejected,
                _ => self,
            },
        }
    }

    /// The same with a phrase for why it is rejected.
    #[must_use]
    pub(super) fn because(self, why: impl FnOnce() -> String) -> Verdict {
        match self {
            Verdict::Rejected(_) => Verdict::Rejected(why()),
            other => other,
        }
    }
}
