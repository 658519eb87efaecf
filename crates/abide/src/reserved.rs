//! What messages and enums have set aside.

use std::fmt;

use abide_schema::{Edition, Element, Enum, File, Message, Part, RangeDecl};

use crate::change::{Change, Diff};
use crate::rule::Sink;
use crate::surface::{Effects, Surface};

/// Whether a message reserves a field number.
pub(crate) fn number_of_message(message: Message<'_>, number: i32) -> bool {
    message.reserved_ranges().iter().any(|range| (range.start..range.end).contains(&number))
}

/// Whether a message reserves a field name.
pub(crate) fn name_of_message(message: Message<'_>, name: &str) -> bool {
    let decl = message.file().decl();
    message.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
}

/// Whether an enum reserves a number.
pub(crate) fn number_of_enum(item: Enum<'_>, number: i32) -> bool {
    item.reserved_ranges().iter().any(|range| (range.start..=range.end).contains(&number))
}

/// Whether an enum reserves a name.
pub(crate) fn name_of_enum(item: Enum<'_>, name: &str) -> bool {
    let decl = item.file().decl();
    item.reserved_names().iter().any(|reserved| decl.str(reserved.name) == name)
}

/// Reports an element that takes a number, a name or both, where what holds it
/// had reserved them; `was` and `is` are its number and its name.
pub(crate) fn reused<'t>(
    diff: &Diff<'t>,
    new: Element<'t>,
    was: Option<(i32, &str)>,
    is: (i32, &str),
    (number_reserved, name_reserved): (bool, bool),
    sink: &mut Sink,
) {
    let number = number_reserved && was.is_none_or(|it| it.0 != is.0);
    let name = name_reserved && was.is_none_or(|it| it.1 != is.1);
    let (part, what, surfaces): (_, String, &[Surface]) = match (number, name) {
        (false, false) => return,
        (true, false) => (Part::Number, format!("number {}", is.0), &[Surface::Wire]),
        (false, true) => (Part::Name, format!("name `{}`", is.1), &[Surface::Json, Surface::Text]),
        (true, true) => (Part::Number, format!("number {} and its name", is.0), Surface::NOTATIONS),
    };
    let were = if number && name { "were" } else { "was" };
    let kind = new.noun();
    let message = format!("{kind} `{}` takes the {what}, which {were} reserved", new.name());
    let finding = sink.change(diff, Change::Added(new), part, message);
    finding.fact(what).breaks(Effects::backward(surfaces));
    let had = if number { "number" } else { "name" };
    finding
        .why(format!("what was written when another {kind} had the {had} is read as this {kind}"));
    finding.help("give it one that was never used");
}

/// The statements that reserve a number and a name in a file: numbers and names
/// do not share one, and editions write names without quotes.
pub(crate) fn statements(file: File<'_>, number: Option<i32>, name: Option<&str>) -> String {
    let quoted = file.decl().edition < Edition::Edition2023;
    let name = name.map(|it| if quoted { format!("\"{it}\"") } else { it.to_owned() });
    let parts = number.map(|it| it.to_string()).into_iter().chain(name);
    parts.map(|it| format!("reserved {it};")).collect::<Vec<String>>().join(" ")
}

/// A set of numbers as ranges in their order that do not touch; ends are
/// exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    /// Of ranges in any order, whose ends are exclusive.
    pub(crate) fn of(mut ranges: Vec<(i64, i64)>) -> Ranges {
        ranges.retain(|(start, end)| start < end);
        ranges.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (start, end) in ranges {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        Ranges(joined)
    }

    /// Those of an enum, whose ends are inclusive.
    pub(crate) fn inclusive(ranges: &[RangeDecl]) -> Ranges {
        Ranges::of(ranges.iter().map(|it| (it.start.into(), i64::from(it.end) + 1)).collect())
    }

    /// Those that hold one number each.
    pub(crate) fn single(numbers: impl Iterator<Item = i64>) -> Ranges {
        Ranges::of(numbers.map(|it| (it, it + 1)).collect())
    }

    /// First and last number of each range.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (i64, i64)> {
        self.0.iter().map(|&(start, end)| (start, end - 1))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&[RangeDecl]> for Ranges {
    /// Those of a message, whose ends are exclusive.
    fn from(ranges: &[RangeDecl]) -> Ranges {
        Ranges::of(ranges.iter().map(|it| (it.start.into(), it.end.into())).collect())
    }
}

impl fmt::Display for Ranges {
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

/// The numbers of one set that another lacks.
pub(crate) fn missing(old: &Ranges, new: &Ranges) -> Ranges {
    let mut missing = Vec::new();
    let mut kept = new.0.iter().peekable();
    for &(mut start, end) in &old.0 {
        while let Some(&&(from, to)) = kept.peek() {
            if from >= end {
                break;
            }
            if from > start {
                missing.push((start, from));
            }
            start = start.max(to);
            // A range that reaches further covers what follows, too.
            if to > end {
                break;
            }
            kept.next();
        }
        if start < end {
            missing.push((start, end));
        }
    }
    Ranges(missing)
}

#[cfg(test)]
mod tests {
    use super::{Ranges, missing};

    #[test]
    fn what_is_missing_is_listed_in_ranges() {
        let set = |ranges: &[(i64, i64)]| Ranges::of(ranges.to_vec());
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
            assert_eq!(missing(&set(old), &set(new)).to_string(), shown, "{old:?} {new:?}");
        }
    }

    #[test]
    fn missing_is_the_difference_of_sets() {
        // Every pair of sets of the numbers 0 to 5.
        let of = |bits: u32| {
            let numbers = (0..6).filter(|at| bits & (1 << at) != 0);
            Ranges::of(numbers.map(|at| (at, at + 1)).collect())
        };
        for old in 0..64 {
            for new in 0..64 {
                assert_eq!(missing(&of(old), &of(new)), of(old & !new), "{old:b} {new:b}");
            }
        }
    }
}
