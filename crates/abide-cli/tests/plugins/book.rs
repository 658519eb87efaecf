//! What the book shows of other tools fits what is shipped for them.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use serde_json::Value;

use crate::run::repository;

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// The blocks of the page in a language.
fn blocks(language: &str) -> Vec<String> {
    let page = text("crates/abide-cli/book/inside-other-tools.md");
    let arena = Arena::new();
    let root = parse_document(&arena, &page, &Options::default());
    let found = root.descendants().filter_map(|node| match &node.data.borrow().value {
        NodeValue::CodeBlock(block) if block.info == language => Some(block.literal.clone()),
        _ => None,
    });
    found.collect()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

#[test]
fn every_block_of_yaml_names_what_there_is() {
    let blocks: Vec<Value> = blocks("yaml").iter().map(|it| yaml(it)).collect();
    let of = |key: &str| blocks.iter().filter(|it| !it[key].is_null()).collect::<Vec<_>>();

    let buf = of("plugins");
    assert_eq!(buf.len(), 2);
    for block in buf {
        assert_eq!(block["plugins"][0]["plugin"], "buf-plugin-abide");
        for option in block["plugins"][0]["options"].as_object().into_iter().flatten() {
            assert!(["preset", "config", "as_of"].contains(&&**option.0), "{option:?}");
        }
    }
    let action = yaml(&text("crates/abide-cli/ci/action.yml"));
    let [workflow] = of("steps")[..] else { panic!("{blocks:#?}") };
    let step = &workflow["steps"][1];
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(step["uses"], format!("OWNER/abide/crates/abide-cli/ci@v{version}"));
    for (input, _) in step["with"].as_object().unwrap() {
        assert!(action["inputs"].get(input).is_some(), "{input}");
    }
    let [hooks] = of("repos")[..] else { panic!("{blocks:#?}") };
    let known = yaml(&text(".pre-commit-hooks.yaml"));
    for hook in hooks["repos"][0]["hooks"].as_array().unwrap() {
        let mut known = known.as_array().unwrap().iter();
        assert!(known.any(|it| it["id"] == hook["id"]), "{hook}");
    }
    assert_eq!(of("include").len(), 1);
}

#[test]
fn the_aspect_of_the_book_is_that_of_the_example() {
    let example = text("crates/abide-cli/bazel/example/tools/abide.bzl");
    let [block] = &blocks("python")[..] else { panic!("one block") };
    for line in block.lines() {
        assert!(example.contains(line), "{line}");
    }
}

/// The inputs of the action are those that the page explains.
#[test]
fn every_input_is_explained() {
    let page = text("crates/abide-cli/book/inside-other-tools.md");
    let action = yaml(&text("crates/abide-cli/ci/action.yml"));
    for (input, _) in action["inputs"].as_object().unwrap() {
        // Whoever needs another token knows why.
        assert!(input == "token" || page.contains(&format!("| `{input}` |")), "{input}");
    }
}
