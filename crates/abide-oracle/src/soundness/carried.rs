//! Values of Envoy's v2 API, carried to v3 and back, and the table of what becomes of all of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::workspace;
use abide_harness::{ExternalPaths, Result};
use abide_instance::{VersionConverter, VersionMapping};
use abide_schema::{FileDecl, MessageId, SourceFile, Tree};
use fastrand::Rng;

use super::carrying::{Outcome, Subject, carry_random};
use super::homes::write_homes;
use super::run_in_parallel;

/// The tree that has both majors.
const API: &str = "envoy-head";

/// The table of every field and enum value of the older major.
const TABLE: &str = "testdata/instances/envoy-v2-to-v3.homes";

/// Carries this many values; true if none is an internal error, and if the table is fresh.
pub(crate) fn try_carrying(count: u64, seed: u64) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let none = ExternalPaths::default();
    let archives = corpora::unpack_archives(&none)?;
    let Some(api) = archives.iter().find(|it| it.name == API) else {
        println!("SKIPPED: carrying: there is no tree `{API}`");
        return Ok(true);
    };
    let tree = link(api)?;
    let steps = abide_source::read_built_in_steps()?;
    let converter =
        VersionConverter::new(&tree, VersionMapping::default(), &steps).map_err(|it| it.message)?;
    let is_fresh = compare_table(&write_homes(&tree, &converter, 3))?;
    let types = find_older(&tree, &converter);
    let in_filters = |it: &&MessageId| tree.message(**it).package().name().contains("filter");
    let contents: Vec<MessageId> = types.iter().filter(in_filters).copied().collect();
    let extensions = read_extensions(&tree)?;
    let subject = Subject {
        tree: &tree,
        converter: &converter,
        types: &types,
        contents: &contents,
        extensions: &extensions,
        comes_back: false,
    };
    let carried = AtomicU64::new(0);
    let failures = run_in_parallel(count, |id| {
        let mut random = Rng::with_seed(seed ^ id.rotate_left(32));
        match carry_random(&subject, &mut random) {
            Ok(Outcome::Refused) => None,
            Ok(_) => {
                carried.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(why) => Some(why),
        }
    })?;
    failures.iter().take(10).for_each(|it| println!("carrying: {it}"));
    let carried = carried.into_inner();
    println!(
        "carrying: seed {seed}, {count} values of {} types, {carried} taken by their reader and \
         carried: {} failures",
        types.len(),
        failures.len()
    );
    Ok(failures.is_empty() && carried * 2 > count && is_fresh)
}

/// The files of a tree and of what it imports, linked.
fn link(api: &Corpus) -> Result<Tree> {
    let mut files = Vec::new();
    for root in api.roots() {
        let imported = root != api.root;
        for path in corpora::list_proto_files(root)? {
            let text = fs::read(root.join(&path))?;
            let path: Arc<str> = path.into();
            let (display, text) = (Arc::clone(&path), text.into());
            files.push(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Tree::link(files.into_iter().map(Arc::new).collect()))
}

/// The top-level messages of older majors that a newer one follows.
fn find_older(tree: &Tree, converter: &VersionConverter<'_>) -> Vec<MessageId> {
    let messages = tree.files().flat_map(|file| file.messages());
    let is_older = |it: &abide_schema::Message<'_>| {
        let package = it.package();
        package.name().starts_with("envoy.")
            && package.version().is_some_and(|it| it.major < 3)
            && converter.collect_versions(it.id).last() != Some(&it.id)
    };
    messages.filter(is_older).map(|it| it.id).collect()
}

/// The names of extensions that the built-in steps know, with their types.
fn read_extensions(tree: &Tree) -> Result<Vec<(String, MessageId)>> {
    let file = workspace()?.join("testdata/instances/envoy-v2-to-v3/extensions.yaml");
    let text = fs::read_to_string(file)?;
    let word = |line: &str, key: &str| -> Option<String> {
        let rest = line.split_once(&format!("{key}: "))?.1;
        let end = rest.find([',', '}', '\n']).unwrap_or(rest.len());
        Some(rest[..end].trim().trim_matches('"').to_owned())
    };
    let found = text.split("\n- ").filter_map(|part| {
        let ty = tree.message_named(&word(part, "type")?)?;
        Some((word(part, "name")?, ty.id))
    });
    Ok(found.collect())
}

/// Compares the table with the one that is kept; true if they are the same.
fn compare_table(table: &str) -> Result<bool> {
    let path = workspace()?.join(TABLE);
    if table.contains("SILENT") || table.contains("NO ADVICE") {
        println!("carrying: something gets lost in silence, or without advice:\n{table}");
        return Ok(false);
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        fs::write(&path, table)?;
    }
    let kept = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    if kept != table {
        println!("carrying: {TABLE} is stale: SNAPSHOTS=overwrite writes it");
    }
    Ok(kept == table)
}
