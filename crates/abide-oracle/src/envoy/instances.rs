//! Compares `abide config check` with the real Envoy: bootstraps are generated from the API that
//! each release carries, and `envoy --mode validate` judges them, too.
//!
//! A case changes one thing of a bootstrap that Envoy takes. `ABIDE_ORACLE_CASES` says how many
//! cases each release gets, `ABIDE_ORACLE_SEED` which ones.

mod minimal;
mod mutations;
mod overrides;
mod seats;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::{output, stdout};
use abide_schema::{FileDecl, Tree};
use fastrand::Rng;
use serde_json::{Value, json};

use self::minimal::build_minimal_message;
use self::mutations::generate_mutants;
use self::seats::{Target, list_targets};
use self::verdict::{Comparison, Verdict, collect_abide_verdicts, compare, parse_envoy_verdict};

/// A bootstrap to judge.
struct Case {
    class: &'static str,
    /// Where the change is.
    place: String,
    /// The element that a verdict is expected to name.
    element: String,
    text: String,
}

/// Compares verdicts on every release; true if they agree as often as they must.
pub(crate) fn run(abide: &Path, show: usize) -> Result<bool> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("ABIDE_ORACLE_SEED").unwrap_or(17);
    let count = number("ABIDE_ORACLE_CASES").unwrap_or(60) as usize;
    let folder = corpora::make_fresh_folder("instances")?;
    println!("instances: seed {seed}, about {count} cases for each release");
    let mut all: BTreeMap<&str, BTreeMap<Comparison, usize>> = BTreeMap::new();
    let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut total = 0;
    for envoy in envoys()? {
        let set = folder.join(format!("{}.binpb", envoy.version));
        stdout(Command::new(abide).arg("build").arg(&envoy.program).arg("-o").arg(&set))?;
        let decls = FileDecl::from_descriptor_set(&fs::read(&set)?.into())?;
        let tree = Tree::link(decls.into_iter().map(Arc::new).collect());
        let work = folder.join(&envoy.version);
        let mut rng = Rng::with_seed(seed);
        let cases = generate_cases(&tree, &envoy, &work, count, &mut rng)?;
        let files = write(&work.join("cases"), &cases)?;
        let ours = collect_abide_verdicts(abide, &work.join("cases"), &set)?;
        let theirs = validate(&envoy, &work, &files)?;
        for ((case, file), theirs) in cases.iter().zip(&files).zip(&theirs) {
            let ours = ours.get(file).cloned().unwrap_or_default();
            let subject = (case.class, case.place.as_str());
            let (kind, why) = compare(&envoy.version, subject, &case.element, &ours, theirs);
            *all.entry(case.class).or_default().entry(kind).or_default() += 1;
            total += 1;
            if kind.is_listed() {
                let why = format!("{kind:?}: {why}");
                differences.entry(why).or_default().push(format!(
                    "{} {}: {} `{}`\n    ours   {ours}\n    theirs {theirs}",
                    envoy.version,
                    file.display(),
                    case.place,
                    case.element
                ));
            }
        }
        println!("instances: {}: {} cases", envoy.version, cases.len());
    }
    report(&all, &differences, total, show)
}

/// Prints counts and differences; true if nothing disagrees more often than it may.
fn report(
    all: &BTreeMap<&str, BTreeMap<Comparison, usize>>,
    differences: &BTreeMap<String, Vec<String>>,
    total: usize,
    show: usize,
) -> Result<bool> {
    if total == 0 {
        return Err("no bootstrap was judged".into());
    }
    for (why, cases) in differences {
        println!("{} x {why}", cases.len());
        cases.iter().take(show).for_each(|case| println!("  {case}"));
    }
    let mut groups: BTreeMap<bool, (usize, usize)> = BTreeMap::new();
    for (class, counts) in all {
        let counted: Vec<String> =
            counts.iter().map(|(kind, count)| format!("{kind:?} {count}")).collect();
        println!("{class}: {}", counted.join(", "));
        let group = groups.entry(*class == "constraint").or_default();
        for (kind, count) in counts.iter().filter(|(kind, _)| kind.counts()) {
            group.0 += count;
            group.1 += if kind.agrees() { *count } else { 0 };
        }
    }
    let mut agreed = true;
    for (is_constraint, (counted, same)) in groups {
        let (name, least) = match is_constraint {
            true => ("constraints", 98.0),
            false => ("structure and deprecation", 99.0),
        };
        let share = same as f64 * 100.0 / counted.max(1) as f64;
        let explained: usize = all
            .iter()
            .filter(|(class, _)| (**class == "constraint") == is_constraint)
            .filter_map(|(_, counts)| counts.get(&Comparison::Explained))
            .sum();
        println!(
            "instances: {name}: {same} of {counted} agree, {share:.2} %, and {explained} differ for a reason"
        );
        agreed &= share >= least;
    }
    println!("instances: {total} cases");
    Ok(agreed)
}

/// The cases of a release: bootstraps that it takes, and changes of them.
fn generate_cases(
    tree: &Tree,
    envoy: &Envoy,
    work: &Path,
    count: usize,
    rng: &mut Rng,
) -> Result<Vec<Case>> {
    let mut targets = list_targets(tree);
    rng.shuffle(&mut targets);
    let mut bases = Vec::new();
    for target in &targets {
        let Some(leaf) = build_minimal_message(tree, target.ty, 0) else { continue };
        let mutants = generate_mutants(tree, target.ty, &leaf);
        let about_phases = mutants.iter().any(|it| is_about_phases(it.class));
        bases.push((about_phases, target, leaf, mutants));
    }
    // What is deprecated is rare, so half of the places are about it.
    bases.sort_by_key(|(about_phases, ..)| !about_phases);
    let rare = bases.iter().filter(|(about_phases, ..)| *about_phases).count();
    let wanted = (count / 4).max(4);
    let chosen = bases
        .into_iter()
        .enumerate()
        .filter(|(at, _)| *at < wanted.min(rare) || (rare..rare + wanted).contains(at));
    let mut plain = Vec::new();
    let mut kept = Vec::new();
    for (_, (_, target, leaf, mutants)) in chosen {
        let Some(text) = render_target(target, tree, Value::Object(leaf), &[]) else { continue };
        plain.push(Case { class: "valid", place: target.text(tree), element: String::new(), text });
        kept.push((target, mutants));
    }
    let files = write(&work.join("bases"), &plain)?;
    let verdicts = validate(envoy, work, &files)?;
    let mut all = Vec::new();
    for ((case, (target, mutants)), verdict) in plain.into_iter().zip(kept).zip(verdicts) {
        if verdict.is_outside() {
            continue;
        }
        all.push(case);
        if verdict.rejects() {
            continue;
        }
        let place = target.text(tree);
        let mut mutants = mutants;
        let (mut phases, mut others): (Vec<_>, Vec<_>) =
            mutants.drain(..).partition(|it| is_about_phases(it.class));
        rng.shuffle(&mut phases);
        rng.shuffle(&mut others);
        phases.truncate(3);
        others.truncate(4);
        let varied: Vec<_> = match target.is_in_any() {
            true => phases.iter().flat_map(|it| overrides::generate_variants(it, rng)).collect(),
            false => Vec::new(),
        };
        for mutant in phases.into_iter().chain(others).chain(varied) {
            let leaf = Value::Object(mutant.fields);
            let Some(text) = render_target(target, tree, leaf, &mutant.layers) else { continue };
            let (class, element) = (mutant.class, mutant.element);
            all.push(Case { class, place: place.clone(), element, text });
        }
    }
    all.extend(overrides::list_override_cases());
    Ok(all)
}

fn is_about_phases(class: &str) -> bool {
    ["deprecated", "disallowed", "implicit"].iter().any(|it| class.starts_with(it))
}

fn render_target(target: &Target, tree: &Tree, leaf: Value, layers: &[Value]) -> Option<String> {
    let mut all = target.bootstrap(tree, leaf)?;
    if !layers.is_empty() {
        all["layered_runtime"] = json!({ "layers": layers });
    }
    serde_json::to_string_pretty(&all).ok()
}

/// Writes cases, each into its file.
fn write(folder: &Path, cases: &[Case]) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let files = cases.iter().enumerate().map(|(at, case)| {
        let file = folder.join(format!("{at:04}-{}.yaml", case.class));
        fs::write(
            &file,
            format!("# proto-message: envoy.config.bootstrap.v3.Bootstrap\n{}\n", case.text),
        )?;
        Ok(file)
    });
    files.collect()
}

/// What Envoy says of each file.
fn validate(envoy: &Envoy, folder: &Path, files: &[PathBuf]) -> Result<Vec<Verdict>> {
    let next = AtomicUsize::new(0);
    let judge = || -> std::result::Result<Vec<(usize, Verdict)>, String> {
        let mut verdicts = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return Ok(verdicts) };
            let mut command = Command::new(&envoy.program);
            command.args(["--mode", "validate", "-l", "warning", "-c"]).arg(file);
            // It opens the files that a bootstrap names.
            command.current_dir(folder);
            let output = output(&mut command).map_err(|error| error.to_string())?;
            verdicts.push((at, parse_envoy_verdict(&output)));
        }
    };
    let mut verdicts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(judge)).collect();
        let parts = threads.into_iter().map(|it| it.join().expect("it does not panic"));
        parts.collect::<std::result::Result<Vec<_>, String>>()
    })?
    .concat();
    verdicts.sort_by_key(|(at, _)| *at);
    Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
}
