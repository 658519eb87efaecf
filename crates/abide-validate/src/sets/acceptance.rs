//! The verdict of a constraint on one value.

/// The verdict of a constraint on one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The value satisfies the constraint.
    Accepted,
    /// The reason, in one phrase.
    Rejected(String),
    /// The fact that cannot be determined.
    Unknown(String),
}

impl Acceptance {
    /// Accepts or rejects, without a reason.
    pub fn when(accepted: bool) -> Acceptance {
        if accepted { Acceptance::Accepted } else { Acceptance::Rejected(String::new()) }
    }

    /// Combines two verdicts: both must accept, and a rejection wins over an unknown.
    #[must_use]
    pub fn and(self, other: impl FnOnce() -> Acceptance) -> Acceptance {
        match self {
            Acceptance::Accepted => other(),
            Acceptance::Rejected(_) => self,
            Acceptance::Unknown(_) => match other() {
                rejected @ Acceptance::Rejected(_) => rejected,
                _ => self,
            },
        }
    }

    /// The same verdict with a reason for a rejection.
    #[must_use]
    pub fn because(self, why: impl FnOnce() -> String) -> Acceptance {
        match self {
            Acceptance::Rejected(_) => Acceptance::Rejected(why()),
            other => other,
        }
    }
}
