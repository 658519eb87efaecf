//! Laws of the pairs: equal trees do not differ, only the meaning of trees
//! counts, and the sides may be swapped.

#![allow(clippy::disallowed_methods, reason = "the tests read fixtures")]

mod trees;

use abide_change::{Change, Diff};
use abide_schema::{Element, File};

use trees::{
    Numbers, WORDS, changed, flat, generated, many, renamed, tree, trees, turned, with_twins,
};

#[test]
fn a_tree_does_not_differ_from_itself() {
    for files in trees() {
        let (old, new) = (tree(&files), tree(&files));
        let diff = Diff::of(&old, &new);
        assert!(diff.file_changes().is_empty() && diff.field_changes().is_empty());
    }
}

#[test]
fn comments_and_formatting_are_no_change() {
    for seed in 0..40 {
        let files = generated(seed);
        let other = |text: &str| format!("// The begin.\n{}\n// The end.\n", flat(text));
        let (old, new) = (tree(&files), tree(&changed(&files, other)));
        assert!(Diff::of(&old, &new).file_changes().is_empty());
    }
}

#[test]
fn a_file_with_another_statement_is_compared() {
    // Even one that means nothing.
    let touched = |text: &str| format!("{text}\n;\n");
    for files in trees() {
        let (old, new) = (tree(&files), tree(&changed(&files, touched)));
        assert_eq!(Diff::of(&old, &new).file_changes().len(), files.len());
    }
}

/// Every pair of elements, the old one first.
fn pairs(diff: &Diff<'_>) -> Vec<(String, String)> {
    let elements = diff.old.files().filter(|it| it.is_judged()).flat_map(|it| it.elements());
    let pair = |old: Element<'_>| {
        let new = diff.new_element(old)?;
        Some((shown(old), shown(new)))
    };
    let files = diff
        .old
        .files()
        .filter_map(|old| Some((old.path().to_owned(), diff.new_file(old)?.path().to_owned())));
    let packages = diff
        .old
        .packages()
        .filter_map(|old| Some((old.full_name(), diff.new_package(old)?.full_name())));
    let mut pairs: Vec<_> = elements.filter_map(pair).chain(files).chain(packages).collect();
    pairs.sort();
    pairs
}

fn shown(element: Element<'_>) -> String {
    format!("{} {} {}", element.noun(), element.full_name(), element.file().path())
}

#[test]
fn swapped_sides_give_the_same_pairs() {
    for seed in 0..200 {
        // Trees that share something, and names that moved.
        let mut after = generated(seed);
        let mut numbers = Numbers(seed);
        let (from, to) = (WORDS[numbers.below(12) as usize], ["Thing", "Order", "Log"]);
        for text in after.values_mut() {
            if numbers.one_in(2) {
                *text = text.replace(from, to[numbers.below(3) as usize]);
            }
            if numbers.one_in(3) {
                *text = text.replacen("p1.v1", "q1.v1", 1).replacen("_1 = 1", "_9 = 1", 1);
            }
        }
        if numbers.one_in(2) {
            after = after.into_iter().map(|(k, it)| (k.replace("f1", "g1"), it)).collect();
        }
        let (old, new) = (tree(&generated(seed)), tree(&after));
        let there = pairs(&Diff::of(&old, &new));
        let mut back: Vec<(String, String)> =
            pairs(&Diff::of(&new, &old)).into_iter().map(|(new, old)| (old, new)).collect();
        back.sort();
        assert_eq!(there, back, "seed {seed}");
        assert!(!there.is_empty());
    }
}

#[test]
fn a_tree_of_renamed_packages_is_paired_in_full() {
    for seed in 0..100 {
        let files = with_twins(generated(seed));
        let (old, new) = (tree(&files), tree(&renamed(&files)));
        let diff = Diff::of(&old, &new);
        for element in old.files().filter(|it| it.is_judged()).flat_map(|it| it.elements()) {
            let twin = diff.new_element(element).map(Element::full_name);
            let expected = element.full_name().replacen("acme", "zeta", 1);
            assert_eq!(twin, Some(expected), "seed {seed}");
        }
        for file in old.files().filter(|it| it.is_judged()) {
            let twin = diff.new_file(file).map(|it| it.path().to_owned());
            assert_eq!(twin, Some(file.path().replace("acme/", "zeta/")));
        }
    }
}

/// Work for each pair of messages would not end within the hour.
#[test]
fn trees_with_nothing_in_common_take_no_longer_than_others() {
    let (old, new) = (tree(&many("Alpha", 20_000)), tree(&many("Beta", 20_000)));
    let diff = Diff::of(&old, &new);
    let messages = diff.message_changes();
    let removed = messages.iter().filter(|it| matches!(it, Change::Removed(_))).count();
    let added = messages.iter().filter(|it| matches!(it, Change::Added(_))).count();
    assert_eq!((removed, added, messages.len()), (20_000, 20_000, 40_000));
}

#[test]
fn equal_texts_differ_where_their_names_lead_elsewhere() {
    let (old, new) = turned();
    let diff = Diff::of(&old, &new);
    let files: Vec<&str> =
        diff.file_changes().iter().filter_map(|it| Some(it.both()?.1.path())).collect();
    assert!(files.contains(&"user.proto"), "{files:?}");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "is not of the old tree")]
fn a_view_of_the_other_side_has_no_other_side() {
    let (old, new) = turned();
    let diff = Diff::of(&old, &new);
    let swapped = new.files().flat_map(|it| it.all_fields()).next();
    diff.new_field(swapped.expect("there is a field"));
}

#[test]
fn views_of_two_trees_are_never_equal() {
    let files = generated(1);
    let (old, new) = (tree(&files), tree(&files));
    let elements = |tree| Vec::from_iter(abide_schema::Tree::files(tree).flat_map(File::elements));
    let (before, after) = (elements(&old), elements(&new));
    assert_eq!(before, elements(&old));
    assert_eq!(before.len(), after.len());
    assert!(!before.is_empty() && before.iter().zip(&after).all(|(old, new)| old != new));
    assert!(old.packages().zip(new.packages()).all(|(old, new)| old != new));
}
