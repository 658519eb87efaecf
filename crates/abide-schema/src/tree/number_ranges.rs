//! Numbers and names that messages and enums have set aside.

use std::fmt;

use crate::decl::RangeDecl;
use crate::tree::view::{Enum, Message};

impl Message<'_> {
    /// Returns true if it reserves a field number.
    pub fn is_reserved_number(self, number: i32) -> bool {
        self.reserved_ranges().iter().any(|range| (range.start..range.end).contains(&number))
    }

    /// Returns true if an extension may have a number, which the message can then neither use nor
    /// reserve.
    pub fn allows_extension(self, number: i32) -> bool {
        self.extension_ranges().iter().any(|range| (range.start..range.end).contains(&number))
    }
}

impl Enum<'_> {
    /// Returns true if it reserves a number.
    pub fn is_reserved_number(self, number: i32) -> bool {
        self.reserved_ranges().iter().any(|range| (range.start..=range.end).contains(&number))
    }

    /// Returns true if it reserves the name of a value.
    pub fn is_reserved_name(self, name: &str) -> bool {
        let decl = self.file().decl();
        self.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
    }
}

/// A set of numbers as sorted ranges that do not touch; ends are exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberRanges(Vec<(i64, i64)>);

impl NumberRanges {
    /// Joins ranges in any order; their ends are exclusive.
    pub fn from_pairs(mut ranges: Vec<(i64, i64)>) -> NumberRanges {
        ranges.retain(|(start, end)| start < end);
        ranges.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (start, end) in ranges {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        NumberRanges(joined)
    }

    /// The ranges of an enum, whose ends are inclusive.
    pub fn from_ranges(ranges: &[RangeDecl]) -> NumberRanges {
        NumberRanges::from_pairs(
            ranges.iter().map(|it| (it.start.into(), i64::from(it.end) + 1)).collect(),
        )
    }

    /// Ranges of one number each.
    pub fn from_numbers(numbers: impl Iterator<Item = i64>) -> NumberRanges {
        NumberRanges::from_pairs(numbers.map(|it| (it, it + 1)).collect())
    }

    /// The first and the last number of each range.
    pub fn ends(&self) -> impl Iterator<Item = (i64, i64)> {
        self.0.iter().map(|&(start, end)| (start, end - 1))
    }

    /// Returns true if it holds no number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers that another set lacks.
    #[must_use]
    pub fn without(&self, other: &NumberRanges) -> NumberRanges {
        let mut missing = Vec::new();
        let mut kept = other.0.iter().peekable();
        for &(mut start, end) in &self.0 {
            while let Some(&&(from, to)) = kept.peek() {
                if from >= end {
                    break;
                }
                if from > start {
                    missing.push((start, from));
                }
                start = start.max(to);
                // A range with a larger end also covers the next ones.
                if to > end {
                    break;
                }
                kept.next();
            }
            if start < end {
                missing.push((start, end));
            }
        }
        NumberRanges(missing)
    }
}

impl From<&[RangeDecl]> for NumberRanges {
    /// The ranges of a message, whose ends are exclusive.
    fn from(ranges: &[RangeDecl]) -> NumberRanges {
        NumberRanges::from_pairs(ranges.iter().map(|it| (it.start.into(), it.end.into())).collect())
    }
}

impl fmt::Display for NumberRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &(start, end)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            match end - start {
                1 => write!(f, "{separator}{start}")?,
                _ => write!(f, "{separator}{start} to {}", end - 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::NumberRanges;

    #[test]
    fn what_is_missing_is_listed_in_ranges() {
        let set = |ranges: &[(i64, i64)]| NumberRanges::from_pairs(ranges.to_vec());
        for (old, new, shown) in [
            (&[(1, 5)][..], &[(1, 5)][..], ""),
            (&[(1, 5)], &[], "1 to 4"),
            (&[(1, 3), (3, 5), (9, 10)], &[], "1 to 4, 9"),
            (&[(1, 10)], &[(3, 4), (6, 8)], "1 to 2, 4 to 5, 8 to 9"),
            (&[(1, 3), (5, 9)], &[(0, 6)], "6 to 8"),
            (&[(1, 3), (5, 9)], &[(2, 3), (4, 20)], "1"),
            (&[(5, 6)], &[(1, 2), (2, 5), (6, 9)], "5"),
            (&[(-3, 0), (1, 2)], &[(-2, -1)], "-3, -1, 1"),
        ] {
            assert_eq!(set(old).without(&set(new)).to_string(), shown, "{old:?} {new:?}");
        }
    }

    #[test]
    fn missing_is_the_difference_of_sets() {
        // Every pair of sets of the numbers 0 to 5.
        let of = |bits: u32| {
            let numbers = (0..6).filter(|at| bits & (1 << at) != 0);
            NumberRanges::from_pairs(numbers.map(|at| (at, at + 1)).collect())
        };
        for old in 0..64 {
            for new in 0..64 {
                assert_eq!(of(old).without(&of(new)), of(old & !new), "{old:b} {new:b}");
            }
        }
    }
}
