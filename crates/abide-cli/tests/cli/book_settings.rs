//! The settings that the book shows: pieces of `abide.toml` are read as Abide reads them, and
//! workflows and hooks name what there is.

use std::path::Path;

use abide_lint::Config;
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use serde_json::Value;

use crate::book::{example, run_line};
use crate::run::repository;

/// A block of a page that is in a language.
struct Block {
    page: String,
    text: String,
}

/// Pieces of TOML that are no `abide.toml`, or no whole one: the page, how each begins, and why.
const OTHERS: [(&str, &str, &str); 4] = [
    ("editor.md", "[language-server.abide]", "it is of Helix"),
    ("policy.md", "extends", "`extends` reads files that are there"),
    ("serving.md", "[[types]]", "the tests of abide-serve read it"),
    ("serving.md", "[[clients]]", "the tests of abide-serve read it"),
];

/// The blocks of this language in the book and in the README.
fn find_blocks(language: &str) -> Vec<Block> {
    let top = repository();
    let mut paths = vec![top.join("README.md")];
    for entry in std::fs::read_dir(top.join("crates/abide-cli/book")).unwrap() {
        paths.push(entry.unwrap().path());
    }
    paths.retain(|it| it.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let mut blocks = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let page = path.file_name().unwrap().to_str().unwrap().to_owned();
        let arena = Arena::new();
        for node in parse_document(&arena, &text, &Options::default()).descendants() {
            if let NodeValue::CodeBlock(block) = &node.data.borrow().value
                && block.info.split(' ').next() == Some(language)
            {
                blocks.push(Block { page: page.clone(), text: block.literal.clone() });
            }
        }
    }
    blocks
}

#[test]
fn every_piece_of_abide_toml_in_the_book_is_read() {
    let mut used = [false; OTHERS.len()];
    let (mut read, mut wrong) = (0, Vec::new());
    for Block { page, text } in find_blocks("toml") {
        if let Some(at) = OTHERS.iter().position(|it| page == it.0 && text.starts_with(it.1)) {
            used[at] = true;
            if let Err(error) = text.parse::<toml_edit::Document<String>>() {
                wrong.push(format!("{page}: {error}\n{text}"));
            }
            continue;
        }
        read += 1;
        if let Err(errors) = Config::parse(&text, None) {
            let errors: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            wrong.push(format!("{page}: {}\n{text}", errors.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(used, [true; OTHERS.len()], "one of `OTHERS` is no longer in the book");
    assert!(read > 30, "only {read} pieces were read");
}

/// All values of this key, at any depth.
fn find_values<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    if let Value::Object(entries) = value {
        found.extend(entries.get(key));
    }
    let inner: Vec<&Value> = match value {
        Value::Object(entries) => entries.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    inner.into_iter().for_each(|it| find_values(it, key, found));
}

fn read_yaml(text: &str) -> Result<Value, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// The commands of a workflow, each run where the commands of the book are run.
fn run_steps(value: &Value, wrong: &mut Vec<String>) -> usize {
    let mut steps = Vec::new();
    find_values(value, "run", &mut steps);
    let lines = steps.iter().filter_map(|it| it.as_str()).flat_map(str::lines);
    let lines: Vec<&str> = lines.map(str::trim).filter(|it| it.starts_with("abide ")).collect();
    for line in &lines {
        // As a workflow of a pull request has it.
        let line = format!("export GITHUB_BASE_REF=main; {line}");
        wrong.extend(run_line(example().path(), &line));
    }
    lines.len()
}

/// The inputs of the action that a workflow uses are inputs that it has.
fn check_actions(value: &Value, wrong: &mut Vec<String>) -> usize {
    let top = repository();
    let mut actions = 0;
    let mut lists = Vec::new();
    find_values(value, "steps", &mut lists);
    for step in lists.into_iter().filter_map(Value::as_array).flatten() {
        let uses = step["uses"].as_str().unwrap_or_default();
        let Some(at) = uses.strip_prefix("OWNER/abide/") else { continue };
        let (folder, version) = at.split_once('@').unwrap_or((at, ""));
        let path = top.join(folder).join("action.yml");
        let action = std::fs::read_to_string(&path).unwrap();
        let action = read_yaml(&action).unwrap();
        let known = |key: &String| action["inputs"].get(key).is_some();
        let given = step["with"].as_object().into_iter().flat_map(|it| it.keys());
        wrong.extend(given.filter(|it| !known(it)).map(|it| format!("{uses}: no input `{it}`")));
        if version.is_empty() {
            wrong.push(format!("{uses}: no version"));
        }
        actions += 1;
    }
    actions
}

/// The hooks that a configuration of pre-commit names are hooks that there are.
fn check_hooks(value: &Value, wrong: &mut Vec<String>) -> usize {
    let there = std::fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).unwrap();
    let there = read_yaml(&there).unwrap();
    let (mut lists, mut known, mut named) = (Vec::new(), Vec::new(), Vec::new());
    find_values(&there, "id", &mut known);
    find_values(value, "hooks", &mut lists);
    lists.into_iter().for_each(|it| find_values(it, "id", &mut named));
    wrong.extend(named.iter().filter(|it| !known.contains(it)).map(|it| format!("no hook {it}")));
    named.len()
}

#[test]
fn every_workflow_and_hook_of_the_book_names_what_there_is() {
    let mut wrong = Vec::new();
    let (mut steps, mut actions, mut hooks) = (0, 0, 0);
    for Block { page, text } in find_blocks("yaml") {
        let mut mistakes = Vec::new();
        match read_yaml(&text) {
            Ok(value) => {
                steps += run_steps(&value, &mut mistakes);
                actions += check_actions(&value, &mut mistakes);
                hooks += check_hooks(&value, &mut mistakes);
            }
            Err(error) => mistakes.push(error),
        }
        wrong.extend(mistakes.into_iter().map(|it| format!("{page}: {it}\n{text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        steps > 3 && actions > 0 && hooks > 3,
        "{steps} steps, {actions} actions, {hooks} hooks"
    );
    assert!(Path::new(&repository()).join("crates/abide-cli/ci/gitlab.yml").is_file());
}
