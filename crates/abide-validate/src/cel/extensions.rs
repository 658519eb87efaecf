//! Functions of cel-go's extensions `lists`, `math` and `sets`.

use std::cmp::Ordering;

use abide_schema::Tree;

use super::steps::StepBudget;
use super::value::{CelValue, Outcome};

pub(super) fn call<'v>(
    tree: &Tree,
    function: &str,
    arguments: &[CelValue<'v>],
    steps: &StepBudget,
) -> Option<Outcome<'v>> {
    use CelValue::{Double, Int, List};
    match (function, arguments) {
        ("distinct", [List(items)]) => Some(keep_distinct(tree, items, steps)),
        ("flatten", [List(items)]) => Some(flatten(items, steps)),
        ("reverse", [List(items)]) => Some(Ok(List(items.iter().rev().cloned().collect()))),
        ("sort", [List(items)]) => Some(sort(items, steps)),
        ("slice", [List(items), Int(from), Int(to)]) => Some(slice(items, *from, *to)),
        ("lists.range", [Int(count)]) => Some(count_up(*count, steps)),
        ("math.abs", [Int(value)]) => {
            Some(value.checked_abs().map(Int).ok_or_else(|| "a number is out of range".to_owned()))
        }
        ("math.abs", [Double(value)]) => Some(Ok(Double(value.abs()))),
        ("math.greatest", [List(items)]) => Some(find_extreme(items, Ordering::Greater)),
        ("math.least", [List(items)]) => Some(find_extreme(items, Ordering::Less)),
        ("math.greatest", both @ [_, _]) => Some(find_extreme(both, Ordering::Greater)),
        ("math.least", both @ [_, _]) => Some(find_extreme(both, Ordering::Less)),
        ("sets.contains", [List(a), List(b)]) => Some(holds_all(tree, a, b, steps)),
        ("sets.equivalent", [List(a), List(b)]) => Some(are_equivalent(tree, a, b, steps)),
        ("sets.intersects", [List(a), List(b)]) => Some(intersect(tree, a, b, steps)),
        _ => None,
    }
}

fn is_among(
    tree: &Tree,
    item: &CelValue<'_>,
    items: &[CelValue<'_>],
    steps: &StepBudget,
) -> Result<bool, String> {
    for other in items {
        if item.equals_within(other, tree, steps)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn keep_distinct<'v>(tree: &Tree, items: &[CelValue<'v>], steps: &StepBudget) -> Outcome<'v> {
    let mut kept: Vec<CelValue<'v>> = Vec::new();
    for item in items {
        if !is_among(tree, item, &kept, steps)? {
            kept.push(item.clone());
        }
    }
    Ok(CelValue::List(kept.into()))
}

fn flatten<'v>(items: &[CelValue<'v>], steps: &StepBudget) -> Outcome<'v> {
    let mut flat = Vec::new();
    for item in items {
        match item {
            CelValue::List(inner) => {
                steps.take(inner.len())?;
                flat.extend(inner.iter().cloned());
            }
            other => flat.push(other.clone()),
        }
    }
    Ok(CelValue::List(flat.into()))
}

fn sort<'v>(items: &[CelValue<'v>], steps: &StepBudget) -> Outcome<'v> {
    let mut sorted = items.to_vec();
    steps.take(sorted.len().saturating_mul(8))?;
    let is_ordered = sorted.windows(2).all(|it| it[0].compare(&it[1]).is_some());
    if !is_ordered {
        return Err("a list holds values without an order".to_owned());
    }
    sorted.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
    Ok(CelValue::List(sorted.into()))
}

fn slice<'v>(items: &[CelValue<'v>], from: i64, to: i64) -> Outcome<'v> {
    let part = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = part.and_then(|(from, to)| items.get(from..to));
    part.map(|it| CelValue::List(it.into())).ok_or_else(|| "an index is out of range".to_owned())
}

fn count_up<'v>(count: i64, steps: &StepBudget) -> Outcome<'v> {
    steps.take(usize::try_from(count).unwrap_or_default())?;
    Ok(CelValue::List((0..count).map(CelValue::Int).collect()))
}

/// Returns the first of the values that no other precedes in this order.
fn find_extreme<'v>(items: &[CelValue<'v>], wanted: Ordering) -> Outcome<'v> {
    let mut best: Option<&CelValue<'v>> = None;
    for item in items {
        let order = best.map(|best| item.compare(best));
        match order {
            Some(None) => return Err("a list holds values without an order".to_owned()),
            Some(Some(order)) if order != wanted => {}
            _ => best = Some(item),
        }
    }
    best.cloned().ok_or_else(|| "a list is empty".to_owned())
}

fn holds_all<'v>(
    tree: &Tree,
    items: &[CelValue<'v>],
    wanted: &[CelValue<'v>],
    steps: &StepBudget,
) -> Outcome<'v> {
    for item in wanted {
        if !is_among(tree, item, items, steps)? {
            return Ok(CelValue::Bool(false));
        }
    }
    Ok(CelValue::Bool(true))
}

fn are_equivalent<'v>(
    tree: &Tree,
    a: &[CelValue<'v>],
    b: &[CelValue<'v>],
    steps: &StepBudget,
) -> Outcome<'v> {
    match holds_all(tree, a, b, steps)? {
        CelValue::Bool(true) => holds_all(tree, b, a, steps),
        other => Ok(other),
    }
}

fn intersect<'v>(
    tree: &Tree,
    a: &[CelValue<'v>],
    b: &[CelValue<'v>],
    steps: &StepBudget,
) -> Outcome<'v> {
    for item in a {
        if is_among(tree, item, b, steps)? {
            return Ok(CelValue::Bool(true));
        }
    }
    Ok(CelValue::Bool(false))
}
