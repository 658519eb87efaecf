//! Every question that a tree answers.

use std::hint::black_box;

use abide_schema::value::Codec;
use abide_schema::{
    DependencyLevel, Element, File, Node, Part, Place, Tree, encode_file, encode_set,
};

const PARTS: [Part; 9] = [
    Part::Whole,
    Part::Name,
    Part::Number,
    Part::Type,
    Part::Label,
    Part::Extendee,
    Part::Input,
    Part::Output,
    Part::Head,
];

pub(crate) fn everything(tree: &Tree) {
    for file in judged(tree) {
        ask_file(tree, file);
    }
    for package in tree.packages() {
        assert!(package.files().all(|file| file.package() == package));
        assert_eq!(tree.package_named(package.name()), Some(package));
        black_box((package.full_name(), package.is_judged(), package.version()));
    }
    for problem in tree.problems() {
        assert!(!problem.message.is_empty(), "{problem:?}");
        check_place(tree, problem.place);
        for (place, phrase) in &problem.labels {
            assert!(!phrase.is_empty());
            check_place(tree, *place);
        }
    }
    ask_graph(tree);
    let ids: Vec<_> = judged(tree).map(|file| file.id).collect();
    black_box(encode_set(tree, &ids, false, true));
    black_box(encode_set(tree, &ids, true, false));
}

/// The files that are not only here to be imported; the others are the same
/// again and again.
fn judged(tree: &Tree) -> impl Iterator<Item = File<'_>> {
    tree.files().filter(|file| file.is_judged())
}

fn check_place(tree: &Tree, place: Place) {
    let decl = tree.file(place.file).decl();
    if let Some(text) = decl.source_text() {
        let span = place.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{place:?}");
    }
    if let Some((start, end)) = decl.line_range(place.span) {
        assert!(start <= end, "{start:?} to {end:?}");
    }
}

fn ask_file(tree: &Tree, file: File<'_>) {
    let decl = file.decl();
    black_box((file.path(), file.full_name(), file.is_judged(), file.features(), file.options()));
    check_place(tree, file.package_place());
    for import in file.imports() {
        check_place(tree, file.place_of(import.decl.node, Part::Name));
    }
    for element in file.elements() {
        assert_eq!(element.file().id, file.id);
        assert!(element.full_name().ends_with(element.name()));
        black_box((element.package(), element.noun()));
        for part in PARTS {
            check_place(tree, element.place(part));
        }
        if element.node() != Node::NONE {
            black_box(decl.comments(element.node()));
        }
        if let Some(options) = element.options() {
            let bytes = Codec::new(tree).encode(options);
            let again = Codec::new(tree).decode(options.ty, &bytes);
            // A field with the number 0 is a problem already.
            let sound = !tree.problems().iter().any(|problem| problem.kind.is_error());
            assert!(!sound || again.is_ok(), "{again:?}");
            black_box(options.without_source_retention(tree));
        }
        ask_element(tree, element);
    }
    black_box(encode_file(tree, file.id, false));
}

fn ask_element(tree: &Tree, element: Element<'_>) {
    match element {
        Element::Message(it) => {
            black_box((it.parent(), it.visibility(), it.features(), it.is_map_entry()));
            let members = it.fields().count() + it.extensions().count() + it.oneofs().count();
            black_box((members, it.messages().count(), it.enums().count()));
            black_box((it.extension_ranges(), it.reserved_ranges(), it.reserved_names()));
            for field in it.fields() {
                assert!(it.field_named(field.name()).is_some());
                assert!(it.field_numbered(field.number()).is_some());
            }
        }
        Element::Field(it) => {
            black_box((it.ty(), it.message_type(), it.enum_type(), it.is_extension()));
            black_box((it.extendee(), it.parent(), it.containing_message(), it.oneof()));
            black_box((it.cardinality(), it.is_map(), it.features(), it.presence()));
            black_box(it.json_name());
        }
        Element::Oneof(it) => {
            assert!(it.fields().all(|field| field.oneof() == Some(it)));
            black_box((it.message(), it.is_synthetic()));
        }
        Element::Enum(it) => {
            assert!(it.values().all(|value| value.parent() == it));
            black_box((it.parent(), it.features(), it.reserved_ranges(), it.reserved_names()));
        }
        Element::EnumValue(it) => {
            black_box(it.number());
        }
        Element::Service(it) => assert!(it.methods().all(|method| method.service() == it)),
        Element::Method(it) => {
            for message in [it.input(), it.output()].into_iter().flatten() {
                assert_eq!(tree.message(message.id), message);
            }
        }
    }
}

fn ask_graph(tree: &Tree) {
    let graph = tree.build_graph();
    let levels = [DependencyLevel::Import, DependencyLevel::Type, DependencyLevel::Option];
    let mut steps = graph.step_finder();
    for package in tree.packages() {
        for dependency in graph.edges_of(package) {
            black_box((dependency.counts(), dependency.find_step(&mut steps, &levels)));
            for used in dependency.collect_uses() {
                check_place(tree, used.place());
                black_box((used.user(), used.target()));
            }
        }
    }
    for group in graph.find_cycles(|_| true) {
        for &package in &group {
            assert!(graph.find_shortest_cycle(package, &group, usize::MAX).is_some());
        }
    }
    black_box((graph.number_components(), graph.compute_depths()));
    let packages: Vec<_> = tree.packages().collect();
    let mut reach = graph.compute_reach(&levels, |_| true);
    let reached: Vec<_> = {
        let strip = reach.strip(packages.clone());
        judged(tree).map(|file| (file, strip.collect_reached(std::iter::once(file)))).collect()
    };
    for (file, columns) in reached {
        let targets: Vec<_> = columns.ones().map(|column| packages[column]).collect();
        let paths = reach.find_paths(std::iter::once(file), &targets);
        assert_eq!(
            paths.len(),
            targets.len(),
            "a path to each package that {} reaches",
            file.path()
        );
    }
}
