//! Sets of numbers, and the mapping from values of number types.
//!
//! Every ordered value becomes a whole number in the same order: an integer is
//! itself, a float is its rank among the floats, a duration or timestamp is its
//! nanoseconds. Sets are unions of closed intervals, so inclusion and differences
//! are exact.

use abide_schema::Scalar;

/// A set of whole numbers, and of NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberSet {
    /// Closed, sorted, disjoint, with gaps between them.
    ranges: Vec<(i128, i128)>,
    nan: bool,
}

impl NumberSet {
    /// The set of any closed ranges; empty ones are left out.
    pub fn of(ranges: impl IntoIterator<Item = (i128, i128)>, nan: bool) -> NumberSet {
        let mut sorted: Vec<_> = ranges.into_iter().filter(|(low, high)| low <= high).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<(i128, i128)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match ranges.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => ranges.push((low, high)),
            }
        }
        NumberSet { ranges, nan }
    }

    /// The set of single numbers.
    pub fn points(points: impl IntoIterator<Item = i128>) -> NumberSet {
        NumberSet::of(points.into_iter().map(|point| (point, point)), false)
    }

    /// Returns true if a number is in the set.
    pub fn contains(&self, number: i128) -> bool {
        self.ranges.iter().any(|&(low, high)| low <= number && number <= high)
    }

    /// Returns true if NaN is in the set.
    pub fn has_nan(&self) -> bool {
        self.nan
    }

    /// Returns true if neither a number nor NaN is in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty() && !self.nan
    }

    /// The elements of either set.
    pub fn union(&self, other: &NumberSet) -> NumberSet {
        let ranges = self.ranges.iter().chain(&other.ranges).copied();
        NumberSet::of(ranges, self.nan || other.nan)
    }

    /// The elements of both sets.
    pub fn intersect(&self, other: &NumberSet) -> NumberSet {
        let pairs = self
            .ranges
            .iter()
            .flat_map(|a| other.ranges.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
        NumberSet::of(pairs, self.nan && other.nan)
    }

    /// The numbers in `self` that are not in `other`.
    pub fn subtract(&self, other: &NumberSet) -> NumberSet {
        let mut left = Vec::new();
        for &(low, high) in &self.ranges {
            let mut from = Some(low);
            for &(cut, end) in &other.ranges {
                let Some(start) = from.filter(|&start| end >= start && cut <= high) else {
                    continue;
                };
                left.push((start, cut.saturating_sub(1)));
                from = end.checked_add(1);
            }
            left.extend(from.map(|start| (start, high)));
        }
        NumberSet::of(left, self.nan && !other.nan)
    }

    /// Up to `count` of its numbers: those next to zero first, and negative ones,
    /// which take more bytes, last.
    pub fn pick_nearest_zero(&self, count: usize) -> Vec<i128> {
        let mut left = self.clone();
        left.nan = false;
        let mut found = Vec::new();
        while found.len() < count {
            let near = left.ranges.iter().map(|&(low, high)| 0.clamp(low, high));
            let Some(next) = near.min_by_key(|&it| (it < 0, it.unsigned_abs())) else { break };
            found.push(next);
            left = left.subtract(&NumberSet::points([next]));
        }
        found
    }
}

/// A type whose values are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// A number or bool.
    Scalar(Scalar),
    /// An enum: the numbers of its values.
    Enum,
    /// A `google.protobuf.Duration`: its nanoseconds.
    Duration,
    /// A `google.protobuf.Timestamp`: its nanoseconds since the epoch.
    Timestamp,
}

/// The nanoseconds of a second.
pub(crate) const SECOND: i128 = 1_000_000_000;

impl NumberKind {
    /// Every value of the type. Durations and timestamps have the ranges that
    /// duration.proto and timestamp.proto state.
    pub fn domain(self) -> NumberSet {
        let (low, high) = match self {
            NumberKind::Scalar(scalar) => match scalar {
                Scalar::Double => (-rank(f64::INFINITY), rank(f64::INFINITY)),
                Scalar::Float => (-rank32(f32::INFINITY), rank32(f32::INFINITY)),
                Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                    (i32::MIN.into(), i32::MAX.into())
                }
                Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => {
                    (i64::MIN.into(), i64::MAX.into())
                }
                Scalar::Uint32 | Scalar::Fixed32 => (0, u32::MAX.into()),
                Scalar::Uint64 | Scalar::Fixed64 => (0, u64::MAX.into()),
                Scalar::Bool => (0, 1),
                // These are not numbers; no rule uses sets of them.
                Scalar::String | Scalar::Bytes => (0, -1),
            },
            NumberKind::Enum => (i32::MIN.into(), i32::MAX.into()),
            NumberKind::Duration => (-315_576_000_000 * SECOND, 315_576_000_000 * SECOND),
            NumberKind::Timestamp => (-62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1),
        };
        NumberSet::of([(low, high)], self.is_float())
    }

    /// Returns true for `float` and `double`.
    pub fn is_float(self) -> bool {
        matches!(self, NumberKind::Scalar(Scalar::Double | Scalar::Float))
    }

    /// Returns true if one number means the same value in both types.
    pub fn is_comparable(self, other: NumberKind) -> bool {
        let whole = |kind: NumberKind| {
            !kind.is_float() && !matches!(kind, NumberKind::Duration | NumberKind::Timestamp)
        };
        self == other || whole(self) && whole(other)
    }

    /// The number of a float; `None` for NaN.
    pub fn float(self, value: f64) -> Option<i128> {
        if value.is_nan() {
            None
        } else if self == NumberKind::Scalar(Scalar::Float) {
            Some(rank32(value as f32))
        } else {
            Some(rank(value))
        }
    }

    /// The float that a number stands for.
    pub fn to_float(self, number: i128) -> f64 {
        if self == NumberKind::Scalar(Scalar::Float) {
            let value = f32::from_bits(number.unsigned_abs() as u32);
            f64::from(if number < 0 { -value } else { value })
        } else {
            let value = f64::from_bits(number.unsigned_abs() as u64);
            if number < 0 { -value } else { value }
        }
    }
}

/// The rank of a float in the order of all floats. Both zeros have the same rank,
/// since no rule distinguishes them.
fn rank(value: f64) -> i128 {
    let size = i128::from(value.abs().to_bits());
    if value.is_sign_negative() { -size } else { size }
}

fn rank32(value: f32) -> i128 {
    let size = i128::from(value.abs().to_bits());
    if value.is_sign_negative() { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subset of a small domain, against sets of single numbers.
    #[test]
    fn set_operations_are_those_of_sets() {
        let set = |bits: u32| NumberSet::points((0..6).filter(|bit| bits >> bit & 1 == 1));
        let bits = |set: &NumberSet| {
            (0..6).filter(|&bit| set.contains(bit)).map(|it| 1u32 << it).sum::<u32>()
        };
        for a in 0u32..64 {
            assert_eq!(bits(&set(a)), a);
            for b in 0u32..64 {
                assert_eq!(set(a).union(&set(b)), set(a | b), "{a} {b}");
                assert_eq!(set(a).intersect(&set(b)), set(a & b), "{a} {b}");
                assert_eq!(set(a).subtract(&set(b)), set(a & !b), "{a} {b}");
            }
        }
    }

    #[test]
    fn floats_keep_their_order_and_come_back() {
        let doubles = NumberKind::Scalar(Scalar::Double);
        let floats = NumberKind::Scalar(Scalar::Float);
        let values = [f64::NEG_INFINITY, -1.5, -1e-300, 0.0, 1e-300, 0.5, 3.0, f64::INFINITY];
        for pair in values.windows(2) {
            assert!(doubles.float(pair[0]) < doubles.float(pair[1]), "{pair:?}");
        }
        for value in values {
            let number = doubles.float(value).unwrap();
            assert_eq!(doubles.to_float(number), value);
            let single = f64::from(value as f32);
            assert_eq!(floats.to_float(floats.float(single).unwrap()), single);
        }
        assert_eq!(doubles.float(-0.0), doubles.float(0.0));
        assert_eq!(doubles.float(f64::NAN), None);
    }

    #[test]
    fn the_nearest_to_zero_come_first() {
        let set = NumberSet::of([(-9, -2), (3, 4), (70, 80)], false);
        assert_eq!(set.pick_nearest_zero(3), [3, 4, 70]);
        assert_eq!(NumberSet::of([(-9, -2)], false).pick_nearest_zero(2), [-2, -3]);
        assert_eq!(NumberSet::points([5]).pick_nearest_zero(3), [5]);
    }
}
