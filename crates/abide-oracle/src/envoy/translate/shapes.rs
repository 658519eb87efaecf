//! Shapes of bootstraps, made of parts in any of the ways that operators write them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use abide_harness::programs::workspace;
use abide_harness::{Result, corpora};
use fastrand::Rng;

/// The parts, and how they are written.
const PARTS: &str = "testdata/instances/shapes.txt";

/// The part that is a whole file.
const WHOLE: &str = "bootstrap";

/// The number of shapes that are made.
const COUNT: u64 = 200;

/// What the shapes watch.
pub(super) const WATCHED: [&str; 4] = ["lds.yaml", "cds.yaml", "eds.yaml", "sds.yaml"];

/// The ways to write each part, as lines.
type Parts<'t> = BTreeMap<&'t str, Vec<Vec<&'t str>>>;

/// Writes the shapes into a folder, each as a file.
pub(super) fn write_shapes(folder: &Path) -> Result<()> {
    let text = fs::read_to_string(workspace()?.join(PARTS))?;
    let mut parts = Parts::new();
    for part in text.split("\n== ").skip(1) {
        let mut lines = part.lines();
        let name = lines.next().unwrap_or_default();
        parts.entry(name).or_default().push(lines.collect());
    }
    for seed in 0..COUNT {
        let lines = write_part(&parts, WHOLE, &mut Rng::with_seed(seed))?;
        let path = folder.join(format!("{seed:03}.yaml"));
        corpora::write(&path, (lines.join("\n") + "\n").as_bytes())?;
    }
    Ok(())
}

/// The lines of a part, written in one of its ways.
fn write_part(parts: &Parts<'_>, name: &str, random: &mut Rng) -> Result<Vec<String>> {
    let ways = parts.get(name).ok_or_else(|| format!("`{PARTS}` has no part `{name}`"))?;
    let mut written = Vec::new();
    for line in &ways[random.usize(..ways.len())] {
        let Some((before, inner)) = find_inner(line) else {
            written.push((*line).to_owned());
            continue;
        };
        for (at, line) in write_part(parts, inner, random)?.into_iter().enumerate() {
            let before = if at == 0 { before.to_owned() } else { " ".repeat(before.len()) };
            written.push(before + &line);
        }
    }
    Ok(written)
}

/// What stands before the part that a line stands for, and the name of that part.
fn find_inner(line: &str) -> Option<(&str, &str)> {
    let (before, inner) = line.strip_suffix('}')?.split_once('{')?;
    let is_name = inner.bytes().all(|it| it.is_ascii_lowercase() || it == b'_');
    let is_alone = before.trim().is_empty() || before.trim() == "-";
    (is_name && is_alone && !inner.is_empty()).then_some((before, inner))
}

/// The comments of a text, in their order.
pub(super) fn list_comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| Some(&line[line.find('#')?..])).collect()
}
