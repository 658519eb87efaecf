//! What the pages of the rules about dependencies cannot show: labels, the
//! whole path of a finding, and drawings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_lint::{Config, Finding, GraphView, Options};
use abide_schema::{DependencyLevel, FileDecl, Package, SourceFile, Tree};
use jiff::civil::date;

/// A tree of files `(path, text)`. A path that begins with `-` is not judged;
/// every text is proto3 and begins with its package.
fn tree(files: &[(&str, &str)]) -> Tree {
    let parse = |(path, text): &(&str, &str)| {
        let imported = path.starts_with('-');
        let path: Arc<str> = path.trim_start_matches('-').into();
        let display = Arc::clone(&path);
        let text = format!("syntax = \"proto3\"; package {text}").into_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    let tree = Tree::link(files.iter().map(parse).collect());
    let refused = tree.problems().iter().find(|problem| problem.kind.is_error());
    assert_eq!(refused, None, "the tree links");
    tree
}

/// The findings of one rule: `message`, then `path:line: phrase` for the place
/// and every label.
fn findings(tree: &Tree, rule: &str) -> Vec<Vec<String>> {
    let config = Config::parse("", None).expect("it is empty");
    let options = Options::on(date(2026, 1, 15));
    let report = abide_lint::check(tree, &config.policy, options);
    let lines = |finding: &Finding| {
        let show = |place: abide_schema::Place, phrase: &str| {
            let decl = tree.file(place.file).decl();
            let (start, _) = decl.line_range(place.span).expect("it is source");
            format!("{}:{}: {phrase}", decl.display, start.line)
        };
        let place = finding.location.place().expect("it stands in the tree");
        let mut lines = vec![finding.message.clone()];
        lines.push(show(place, finding.at.as_deref().unwrap_or_default()));
        lines.extend(
            finding
                .labels
                .iter()
                .map(|it| show(it.location.place().expect("it stands in the tree"), &it.message)),
        );
        lines
    };
    report.findings.iter().filter(|it| it.rule == rule).map(lines).collect()
}

#[test]
fn every_step_of_a_path_is_shown() {
    let tree = tree(&[
        ("shop/v1/shop.proto", "shop.v1;\nimport \"a.proto\";\nmessage Shop { common.A a = 1; }"),
        ("a.proto", "common;\nimport \"b.proto\";\nmessage A { B b = 1; }"),
        (
            "b.proto",
            "common;\nimport \"ext/v1/ext.proto\";\nmessage B {\n  map<string, ext.v1.E> e = 1;\n}",
        ),
        (
            "-ext/v1/ext.proto",
            "ext.v1;\nimport \"new/v2alpha/new.proto\";\nmessage E {}\n\
             service S {\n  rpc Do(E) returns (new.v2alpha.N);\n}",
        ),
        ("new/v2alpha/new.proto", "new.v2alpha;\nmessage N {}"),
    ]);
    assert_eq!(
        findings(&tree, "stable-depends-on-unstable"),
        [[
            "stable package `shop.v1` depends on alpha package `new.v2alpha` through `common`, \
             `ext.v1`",
            "shop/v1/shop.proto:3: `shop.v1.Shop.a` has type `common.A`",
            "a.proto:3: `common.A.b` has type `common.B`",
            "b.proto:4: `common.B.e` has type `ext.v1.E`",
            "ext/v1/ext.proto:5: `ext.v1.S.Do` returns `new.v2alpha.N`",
        ]]
    );
}

#[test]
fn a_judged_stable_package_answers_for_itself() {
    let tree = tree(&[
        ("top/v1/t.proto", "top.v1;\nimport \"mid/v1/m.proto\";\nmessage T { mid.v1.M m = 1; }"),
        ("mid/v1/m.proto", "mid.v1;\nimport \"low/v0/l.proto\";\nmessage M { low.v0.L l = 1; }"),
        ("low/v0/l.proto", "low.v0;\nmessage L {}"),
    ]);
    let messages: Vec<String> =
        findings(&tree, "stable-depends-on-unstable").into_iter().map(|it| it[0].clone()).collect();
    assert_eq!(messages, ["stable package `mid.v1` depends on alpha package `low.v0`"]);
}

#[test]
fn a_type_seen_by_public_imports_is_explained_by_them() {
    let tree = tree(&[
        (
            "shop/v1/shop.proto",
            "shop.v1;\nimport \"all.proto\";\nmessage Shop {\n  low.v1beta1.L l = 1;\n}",
        ),
        ("all.proto", "common;\nimport public \"more.proto\";"),
        ("more.proto", "common;\n\nimport public \"low/v1beta1/l.proto\";"),
        ("low/v1beta1/l.proto", "low.v1beta1;\nmessage L {}"),
    ]);
    assert_eq!(
        findings(&tree, "stable-depends-on-unstable"),
        [[
            "stable package `shop.v1` depends on beta package `low.v1beta1`",
            "shop/v1/shop.proto:4: `shop.v1.Shop.l` has type `low.v1beta1.L`",
            "shop/v1/shop.proto:2: visible because `shop/v1/shop.proto` imports `all.proto`",
            "all.proto:2: visible because `all.proto` imports `more.proto` publicly",
            "more.proto:3: visible because `more.proto` imports `low/v1beta1/l.proto` publicly",
        ]]
    );
}

#[test]
fn an_import_that_nothing_uses_is_a_dependency_but_no_second_definition() {
    let tree = tree(&[
        (
            "shop/v1/shop.proto",
            "shop.v1;\nimport \"low/v1/l.proto\";\nimport \"low/v2alpha/l.proto\";\n\
             message Shop { low.v1.L l = 1; }",
        ),
        ("low/v1/l.proto", "low.v1;\nmessage L {}"),
        ("low/v2alpha/l.proto", "low.v2alpha;\nmessage L {}"),
    ]);
    assert_eq!(
        findings(&tree, "stable-depends-on-unstable"),
        [[
            "stable package `shop.v1` depends on alpha package `low.v2alpha`",
            "shop/v1/shop.proto:3: `shop/v1/shop.proto` imports `low/v2alpha/l.proto`",
        ]]
    );
    assert!(findings(&tree, "one-definition").is_empty());
}

#[test]
fn both_paths_of_a_diamond_are_shown_where_they_join() {
    let tree = tree(&[
        ("top/v1/t.proto", "top.v1;\nimport \"d/v1/d.proto\";\nmessage T { d.v1.D d = 1; }"),
        (
            "d/v1/d.proto",
            "d.v1;\nimport \"left/v1/l.proto\";\nimport \"low/v2/low.proto\";\nmessage D {\n\
             left.v1.L l = 1;\nlow.v2.X x = 2;\n}",
        ),
        (
            "left/v1/l.proto",
            "left.v1;\nimport \"low/v1/low.proto\";\nmessage L { low.v1.X x = 1; }",
        ),
        ("low/v1/low.proto", "low.v1;\nmessage X {}"),
        ("low/v2/low.proto", "low.v2;\nmessage X {}"),
    ]);
    assert_eq!(
        findings(&tree, "one-definition"),
        [[
            "`d.v1` reaches 2 versions of one API: `low.v1`, `low.v2`",
            "d/v1/d.proto:5: to `low.v1`: `d.v1.D.l` has type `left.v1.L`",
            "left/v1/l.proto:3: to `low.v1`: `left.v1.L.x` has type `low.v1.X`",
            "d/v1/d.proto:6: to `low.v2`: `d.v1.D.x` has type `low.v2.X`",
        ]]
    );
}

#[test]
fn an_earlier_major_of_itself_behind_another_api_is_a_second_definition() {
    let tree = tree(&[
        ("a/v2/a.proto", "a.v2;\nimport \"b/v1/b.proto\";\nmessage A { b.v1.B b = 1; }"),
        ("b/v1/b.proto", "b.v1;\nimport \"a/v1/a.proto\";\nmessage B { a.v1.A a = 1; }"),
        ("a/v1/a.proto", "a.v1;\nmessage A {}"),
    ]);
    assert!(findings(&tree, "older-major-of-itself").is_empty());
    assert_eq!(
        findings(&tree, "one-definition"),
        [[
            "`a.v2` reaches another version of itself: `a.v1`",
            "a/v2/a.proto:3: to `a.v1`: `a.v2.A.b` has type `b.v1.B`",
            "b/v1/b.proto:3: to `a.v1`: `b.v1.B.a` has type `a.v1.A`",
        ]]
    );
}

#[test]
fn a_diamond_in_a_circle_of_packages_is_still_reported() {
    let tree = tree(&[
        ("p/v1/p.proto", "p.v1;\nimport \"q/v1/q2.proto\";\nmessage P { q.v1.Q2 q = 1; }"),
        (
            "p/v1/low.proto",
            "p.v1;\nimport \"low/v1/low.proto\";\nimport \"low/v2/low.proto\";\n\
             message P2 { low.v1.X a = 1; low.v2.X b = 2; }",
        ),
        ("q/v1/q.proto", "q.v1;\nimport \"p/v1/p.proto\";\nmessage Q { p.v1.P p = 1; }"),
        ("q/v1/q2.proto", "q.v1;\nimport \"p/v1/low.proto\";\nmessage Q2 { p.v1.P2 p = 1; }"),
        ("low/v1/low.proto", "low.v1;\nmessage X {}"),
        ("low/v2/low.proto", "low.v2;\nmessage X {}"),
    ]);
    let messages: Vec<String> =
        findings(&tree, "one-definition").into_iter().map(|it| it[0].clone()).collect();
    assert_eq!(messages, ["`p.v1` reaches 2 versions of one API: `low.v1`, `low.v2`"]);
    assert_eq!(
        findings(&tree, "package-cycle"),
        [[
            "packages depend on each other in a cycle: `p.v1` → `q.v1` → `p.v1`",
            "p/v1/p.proto:2: `p/v1/p.proto` imports `q/v1/q2.proto`",
            "q/v1/q.proto:2: `q/v1/q.proto` imports `p/v1/p.proto`",
        ]]
    );
}

#[test]
fn files_without_a_package_join_nothing() {
    let text = |import: &str, field: &str| {
        format!(
            "syntax = \"proto3\";\nimport \"{import}\";\nmessage {field}M {{ {field}.X x = 1; }}"
        )
    };
    let bare = |path: &str, text: String| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.into_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(vec![
        bare("a.proto", text("low/v1.proto", "low.v1").replace("low.v1M", "A")),
        bare("b.proto", text("low/v2.proto", "low.v2").replace("low.v2M", "B")),
        bare("low/v1.proto", "syntax = \"proto3\"; package low.v1; message X {}".to_owned()),
        bare("low/v2.proto", "syntax = \"proto3\"; package low.v2; message X {}".to_owned()),
    ]);
    assert_eq!(tree.problems(), []);
    assert!(findings(&tree, "one-definition").is_empty());
}

#[test]
fn a_circle_of_many_packages_is_found_in_one_piece() {
    let count = 3_000;
    let files: Vec<(String, String)> = (0..count)
        .flat_map(|index| {
            let next = (index + 1) % count;
            let own =
                format!("p{index};\nimport \"{next}/b.proto\";\nmessage A {{ p{next}.B b = 1; }}");
            [
                (format!("{index}/a.proto"), own),
                (format!("{index}/b.proto"), format!("p{index};\nmessage B {{}}")),
            ]
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = tree(&files);
    let graph = tree.build_graph();
    assert_eq!(graph.find_cycles(|_| true).len(), 1);
    let found = findings(&tree, "package-cycle");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), count + 1);
}

fn small() -> Tree {
    tree(&[
        (
            "a/v2/a.proto",
            "a.v2;\nimport \"a/v1/a.proto\";\nimport \"x/x.proto\";\n\
             message A {\n  map<string, a.v1.E> e = 1;\n  x.X x = 2;\n  x.X y = 3;\n}",
        ),
        ("a/v1/a.proto", "a.v1;\nenum E { ZERO = 0; }"),
        ("b/v1beta1/b.proto", "b.v1beta1;\nimport public \"x/x.proto\";"),
        ("-x/x.proto", "x;\nmessage X {}"),
        ("-y/y.proto", "y;\nmessage Y {}"),
    ])
}

#[test]
fn an_edge_counts_its_uses_by_level() {
    let tree = small();
    let graph = tree.build_graph();
    let package = |name| tree.package_named(name).expect("the tree has it");
    let edge = graph.edge(package("a.v2"), package("x")).expect("it depends on it");
    assert_eq!(DependencyLevel::ALL.map(|level| edge.counts().count_at(level)), [1, 2, 0]);
    let first = edge
        .find_evidence(&mut graph.step_finder(), DependencyLevel::Type)
        .expect("a type is used");
    assert_eq!((first.user(), first.target()), ("a.v2.A.x".to_owned(), "x.X".to_owned()));
    let targets: Vec<&str> = graph.edges_of(package("a.v2")).map(|it| it.to.name()).collect();
    assert_eq!(targets, ["a.v1", "x"]);
}

#[test]
fn a_drawing_shows_judged_packages_and_what_they_import() {
    let tree = small();
    let graph = tree.build_graph();
    assert_eq!(
        GraphView { imported: false, findings: &[] }.mermaid(&graph),
        "flowchart LR
  subgraph api0 [\"a.*\"]
    p0[\"a.v1\"]:::stable
    p1[\"a.v2\"]:::stable
  end
  p2[\"b.v1beta1\"]:::beta
  p1 --> p0
  classDef stable fill:#b7e1cd,stroke:#555,color:#111;
  classDef beta fill:#fde9a9,stroke:#555,color:#111;
  classDef alpha fill:#f6b8a6,stroke:#555,color:#111;
  classDef unversioned fill:#e0e0e0,stroke:#555,color:#111;
"
    );
    assert_eq!(
        GraphView { imported: true, findings: &[] }.dot(&graph),
        "digraph packages {
  rankdir=LR;
  node [shape=box, style=filled, fontname=\"sans-serif\"];
  subgraph cluster_0 {
    label=\"a.*\";
    \"a.v1\" [fillcolor=\"#b7e1cd\", style=\"filled\"];
    \"a.v2\" [fillcolor=\"#b7e1cd\", style=\"filled\"];
  }
  \"b.v1beta1\" [fillcolor=\"#fde9a9\", style=\"filled\"];
  \"x\" [fillcolor=\"#e0e0e0\", style=\"filled,dashed\"];
  \"a.v2\" -> \"a.v1\" [tooltip=\"import, type\"];
  \"a.v2\" -> \"x\" [tooltip=\"import, type\"];
  \"b.v1beta1\" -> \"x\" [tooltip=\"import\", style=dashed];
}
"
    );
}

#[test]
fn json_names_the_evidence_of_every_edge() {
    let tree = small();
    let json = GraphView { imported: false, findings: &[] }.json(&tree.build_graph());
    assert_eq!(
        json,
        r#"{"packages":[
{"name":"a.v1","version":"v1","stability":"stable","api":"a.*","judged":true},
{"name":"a.v2","version":"v2","stability":"stable","api":"a.*","judged":true},
{"name":"b.v1beta1","version":"v1beta1","stability":"beta","api":"b.*","judged":true}],
"edges":[
{"from":"a.v2","to":"a.v1","import":{"count":1,"path":"a/v2/a.proto","start":{"line":2,"column":8},"element":"a/v2/a.proto","target":"a/v1/a.proto"},"type":{"count":1,"path":"a/v2/a.proto","start":{"line":5,"column":15},"element":"a.v2.A.e","target":"a.v1.E"}}]}
"#
    );
}

/// Packages with one file each, of which each may import any other.
fn random_packages(random: &mut fastrand::Rng, count: usize, in_circles: bool) -> Tree {
    let file = |at: usize| {
        let mut text = format!("syntax = \"proto3\"; package p{at}; ");
        for _ in 0..random.usize(0..3) {
            let other = random.usize(..if in_circles { count } else { at.max(1) });
            if other != at {
                text += &format!("import \"p{other}.proto\"; ");
            }
        }
        let path: Arc<str> = format!("p{at}.proto").into();
        let (display, text) = (Arc::clone(&path), text.into_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link((0..count).map(file).collect())
}

/// More packages than fit into one strip, with and without circles of imports.
#[test]
fn what_files_reach_is_what_a_search_finds() {
    let mut random = fastrand::Rng::with_seed(7);
    for in_circles in [false, true] {
        let tree = random_packages(&mut random, 1300, in_circles);
        let graph = tree.build_graph();
        let passes = |it: Package<'_>| !it.name().ends_with('3');
        let reach = graph.compute_reach(&DependencyLevel::ALL, passes);
        let packages: Vec<Package<'_>> = tree.packages().collect();
        let mut reached: BTreeMap<Package<'_>, BTreeSet<Package<'_>>> = BTreeMap::new();
        let (mut strips, mut parted) = (0, 0);
        for strip in reach.split_targets(packages.chunks(7)) {
            strips += 1;
            let groups = packages.chunks(7).filter(|group| {
                let inside = group.iter().filter(|it| strip.column(**it).is_some()).count();
                inside > 0 && inside < group.len()
            });
            parted += groups.count();
            for &package in &packages {
                let found = strip.collect_reached(package.files());
                let found = found.ones().map(|column| strip.targets()[column]);
                reached.entry(package).or_default().extend(found);
            }
        }
        assert!(strips > 1 && parted == 0, "{strips} strips, {parted} groups in several");
        for &package in &packages {
            let mut found = BTreeSet::new();
            let mut open = vec![package];
            while let Some(at) = open.pop() {
                let next = graph.edges_of(at).map(|it| it.to);
                open.extend(next.filter(|it| found.insert(*it)).filter(|it| passes(*it)));
            }
            assert_eq!(reached[&package], found, "what `{}` reaches", package.name());
        }
    }
}
