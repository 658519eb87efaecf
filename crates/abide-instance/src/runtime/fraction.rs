//! Shares of requests.

use super::value::{RuntimeLiteral, RuntimeMember};

/// A share: so many of a hundred, ten thousand or a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FractionalPercent {
    /// The count.
    pub numerator: u32,
    /// Of how many.
    pub denominator: Denominator,
}

/// The unit of a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after its number")]
pub enum Denominator {
    #[default]
    Hundred,
    TenThousand,
    Million,
}

impl Denominator {
    /// Its number.
    pub const fn number(self) -> u64 {
        match self {
            Denominator::Hundred => 100,
            Denominator::TenThousand => 10_000,
            Denominator::Million => 1_000_000,
        }
    }

    /// Its name, as in the enum of the API.
    pub const fn name(self) -> &'static str {
        match self {
            Denominator::Hundred => "HUNDRED",
            Denominator::TenThousand => "TEN_THOUSAND",
            Denominator::Million => "MILLION",
        }
    }
}

/// The keys that make a struct a share instead of a level of keys.
pub(super) const RESERVED: [&str; 2] = ["numerator", "denominator"];

impl FractionalPercent {
    /// A share in percent.
    pub const fn new_percent(numerator: u32) -> FractionalPercent {
        FractionalPercent { numerator, denominator: Denominator::Hundred }
    }

    /// Returns true if a random number falls into the share. A share above the whole is
    /// the whole.
    pub const fn includes(self, random: u64) -> bool {
        random % self.denominator.number() < self.numerator as u64
    }

    /// The share that a struct is. A numerator that is no number counts as missing,
    /// which is 0. Any other key, or a denominator that is no name, is no share.
    pub(super) fn from_members(members: &[RuntimeMember]) -> Option<FractionalPercent> {
        let mut share = FractionalPercent::new_percent(0);
        for member in members {
            match (&*member.key, &member.value) {
                ("numerator", RuntimeLiteral::Number(number)) => share.numerator = *number as u32,
                ("numerator", _) => {}
                ("denominator", RuntimeLiteral::Text(name)) => {
                    let all =
                        [Denominator::Hundred, Denominator::TenThousand, Denominator::Million];
                    share.denominator = all.into_iter().find(|it| it.name() == &**name)?;
                }
                _ => return None,
            }
        }
        Some(share)
    }
}
