//! Names that a typo most likely meant.

/// The known name that a misspelt one most likely means.
pub(crate) fn find_nearest<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    find_near(name, known).into_iter().next()
}

/// The known names that a misspelt one may mean, the most likely first.
pub(crate) fn find_near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    if name.len() > 64 {
        return Vec::new();
    }
    // Any two short names are close.
    let allowed = (name.len() / 3).min(3);
    let mut near: Vec<(usize, &str)> = known
        .take(1000)
        .filter(|known| known.len().abs_diff(name.len()) <= allowed)
        .filter_map(|known| Some((compute_distance(name, known, allowed)?, known)))
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).collect()
}

/// A path as it is spelled plainly: in lower case, with `/` between its parts, and without parts that
/// lead nowhere. Two paths of one plain spelling are one file to somebody.
pub(crate) fn normalize_path(path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_lowercase()),
        }
    }
    parts.join("/")
}

/// Counts the letters that must be inserted, removed or replaced; `None` if that is
/// more than `allowed`.
fn compute_distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let mut row: SmallRow = std::array::from_fn(|at| at);
    let row = row.get_mut(..=b.len())?;
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, y) in b.bytes().enumerate() {
            let cost = if x.eq_ignore_ascii_case(&y) { 0 } else { 1 };
            let next = (diagonal + cost).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
            least = least.min(next);
        }
        // The smallest entry never decreases from one row to the next.
        if least > allowed {
            return None;
        }
    }
    Some(row[b.len()]).filter(|distance| *distance <= allowed)
}

/// Large enough for any name that is near one of 64 letters.
type SmallRow = [usize; 64 + 3 + 1];

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of the distance.
    fn slowly(a: &[u8], b: &[u8]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a @ ..], [y, b @ ..]) if x.eq_ignore_ascii_case(y) => slowly(a, b),
            ([_, shorter @ ..], [_, other @ ..]) => {
                1 + slowly(shorter, b).min(slowly(a, other)).min(slowly(shorter, other))
            }
        }
    }

    #[test]
    fn a_distance_is_that_of_its_definition() {
        let mut words = vec![String::new()];
        for length in 0..4 {
            let longest: Vec<String> =
                words.iter().filter(|it| it.len() == length).cloned().collect();
            words.extend(longest.iter().flat_map(|it| ["a", "B", "c"].map(|end| it.clone() + end)));
        }
        assert_eq!(words.len(), 121);
        for a in &words {
            for b in &words {
                let expected = slowly(a.as_bytes(), b.as_bytes());
                for allowed in 0..=3 {
                    let found = compute_distance(a, b, allowed);
                    assert_eq!(found, Some(expected).filter(|it| *it <= allowed), "{a} {b}");
                }
            }
        }
    }
}
