//! Laws about several old trees: each counts as if it were the only one, whatever they share.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use abide_hash::TreeHashes;
use abide_lint::{Config, OldTree, Options, Report, RuleScope, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::date;

/// A file of a random tree: its messages, each with its fields.
#[derive(Clone)]
struct RandomFile {
    number: usize,
    imported: bool,
    comment: u8,
    messages: Vec<(String, Vec<RandomField>)>,
}

#[derive(Clone)]
struct RandomField {
    name: String,
    number: u32,
    ty: String,
}

const SCALARS: &[&str] = &["string", "bytes", "int32", "int64", "bool", "repeated string"];

impl RandomFile {
    fn new(number: usize, random: &mut Rng) -> RandomFile {
        let mut file =
            RandomFile { number, imported: number < 2, comment: 0, messages: Vec::new() };
        for at in 0..random.usize(1..4) {
            let mut fields = Vec::new();
            for field in 1..random.u32(2..6) {
                fields.push(RandomField {
                    name: format!("field_{field}"),
                    number: field,
                    ty: choose_type(number, random),
                });
            }
            file.messages.push((format!("M{number}x{at}"), fields));
        }
        file
    }

    /// Changes something: most changes are of one field.
    fn change(&mut self, random: &mut Rng) {
        let number = self.number;
        let Some(at) = (!self.messages.is_empty()).then(|| random.usize(..self.messages.len()))
        else {
            return;
        };
        let fields = &mut self.messages[at].1;
        match random.u8(..7) {
            0 => self.comment = self.comment.wrapping_add(1),
            1 if fields.len() > 1 => drop(fields.remove(random.usize(..fields.len()))),
            2 => {
                let next = fields.iter().map(|it| it.number).max().unwrap_or(0) + 1;
                let ty = choose_type(number, random);
                fields.push(RandomField { name: format!("field_{next}"), number: next, ty });
            }
            3 if !fields.is_empty() => {
                let field = random.usize(..fields.len());
                fields[field].ty = choose_type(number, random);
            }
            4 if !fields.is_empty() => {
                let field = random.usize(..fields.len());
                fields[field].name += "_new";
            }
            5 if at > 0 => drop(self.messages.remove(at)),
            _ => {
                let fields =
                    vec![RandomField { name: "a".to_owned(), number: 1, ty: "string".to_owned() }];
                self.messages.push((format!("M{number}n{}", random.u8(..20)), fields));
            }
        }
        // Names are given once.
        let mut names = BTreeSet::new();
        self.messages.retain(|it| names.insert(it.0.clone()));
        for (_, fields) in &mut self.messages {
            let mut names = BTreeSet::new();
            fields.retain(|it| names.insert(it.name.clone()));
        }
    }

    fn path(&self) -> String {
        format!("acme/p{}/v1/f{}.proto", self.number % 3, self.number)
    }

    fn text(&self) -> String {
        let package = format!("acme.p{}.v1", self.number % 3);
        let mut text = format!("syntax = \"proto3\";\n// {}\npackage {package};\n", self.comment);
        for number in 0..self.number {
            let _ = writeln!(text, "import \"acme/p{}/v1/f{number}.proto\";", number % 3);
        }
        for (name, fields) in &self.messages {
            let _ = writeln!(text, "message {name} {{");
            for field in fields {
                let _ = writeln!(text, "  {} {} = {};", field.ty, field.name, field.number);
            }
            text.push_str("}\n");
        }
        text
    }
}

/// A type of a field in a file: a scalar, or the first message of a file before it.
fn choose_type(number: usize, random: &mut Rng) -> String {
    match random.bool() && number > 0 {
        true => {
            let other = random.usize(..number);
            format!("acme.p{}.v1.M{other}x0", other % 3)
        }
        false => SCALARS[random.usize(..SCALARS.len())].to_owned(),
    }
}

/// The releases of a tree: each shares what did not change with the one before.
fn make_releases(random: &mut Rng) -> Vec<Vec<Arc<FileDecl>>> {
    let mut files: Vec<RandomFile> = (0..6).map(|it| RandomFile::new(it, random)).collect();
    let mut decls: Vec<Arc<FileDecl>> = Vec::new();
    let mut releases = Vec::new();
    for _ in 0..6 {
        for _ in 0..random.usize(..4) {
            let at = random.usize(..files.len());
            files[at].change(random);
        }
        if files.len() > 4 && random.u8(..5) == 0 {
            files.pop();
        }
        decls = files.iter().map(|it| parse(it, &decls)).collect();
        releases.push(decls.clone());
    }
    releases
}

fn parse(file: &RandomFile, known: &[Arc<FileDecl>]) -> Arc<FileDecl> {
    let (path, text): (Arc<str>, String) = (file.path().into(), file.text());
    let same = known
        .iter()
        .find(|it| *it.path == *path && it.source_text().is_some_and(|it| *it == *text.as_bytes()));
    let display = Arc::clone(&path);
    let (imported, text) = (file.imported, text.as_bytes().into());
    let read = || FileDecl::parse(SourceFile { path, display, root: 0, imported, text });
    same.map_or_else(|| Arc::new(read()), Arc::clone)
}

/// The findings about an old tree: rule, element and fingerprint.
fn list_findings(report: &Report, name: &str) -> Vec<(String, String, String)> {
    let of_tree = report.findings.iter().flat_map(|finding| {
        let alone = finding.baselines.is_empty().then(|| finding.fingerprint());
        let named = finding.baselines.iter().filter(|it| it.name == name);
        let prints = named.map(|it| it.fingerprint.clone()).chain(alone);
        prints.map(|it| (finding.rule.to_owned(), finding.element.clone(), it))
    });
    let mut found: Vec<_> = of_tree.collect();
    found.sort();
    found
}

#[test]
fn each_of_several_old_trees_counts_as_if_it_were_alone() {
    let policy = Config::parse("", None).expect("it is empty").policy;
    let mut random = Rng::with_seed(7);
    let mut count = 0;
    for _ in 0..60 {
        let mut releases = make_releases(&mut random);
        let new = Tree::link(releases.pop().expect("there are some"));
        let mut beside = &new;
        let mut trees: Vec<(String, Tree)> = Vec::new();
        for (at, files) in releases.into_iter().enumerate().rev() {
            trees.push((format!("v{at}"), Tree::link_beside(files, beside)));
            beside = &trees[trees.len() - 1].1;
        }
        trees.reverse();
        let options = Options {
            scope: RuleScope::Changes,
            changes: true,
            counts_bump: false,
            ..Options::on(date(2026, 1, 15))
        };
        let alone: Vec<Vec<(String, String, String)>> = trees
            .iter()
            .map(|(name, old)| {
                let files = old.files().map(|it| Arc::clone(it.shared_decl())).collect();
                let old = Tree::link(files);
                let options = Options { baseline: Some(&old), ..options };
                list_findings(&check(&new, &policy, options), name)
            })
            .collect();
        let names: Vec<String> = trees.iter().map(|it| it.0.clone()).collect();
        let (newest_name, newest) = trees.pop().expect("there are some");
        let older: Vec<OldTree> =
            trees.into_iter().map(|(name, tree)| OldTree { name, tree }).collect();
        let options = Options {
            baseline: Some(&newest),
            baseline_name: &newest_name,
            older: &older,
            ..options
        };
        let report = check(&new, &policy, options);
        for (name, alone) in names.iter().zip(alone) {
            count += alone.len();
            assert_eq!(list_findings(&report, name), alone, "{name}");
        }
    }
    assert!(count > 500, "{count} findings");
}

#[test]
fn hashes_of_a_part_are_those_of_the_whole() {
    let mut random = Rng::with_seed(8);
    for _ in 0..30 {
        for files in make_releases(&mut random) {
            let tree = Tree::link(files);
            let whole = TreeHashes::of(&tree);
            for file in tree.files().filter(|it| it.is_judged()) {
                let part = TreeHashes::reaching(&tree, &[file.id]);
                assert_eq!(part.file(file.path()), whole.file(file.path()));
                assert!(part.file(file.path()).is_some());
                for message in file.all_messages() {
                    let name = message.full_name();
                    assert_eq!(part.of_type(&name), whole.of_type(&name), "{name}");
                }
                let ids: Vec<_> = file.package().files().map(|it| it.id).collect();
                let part = TreeHashes::reaching(&tree, &ids);
                let package = file.package().name();
                assert_eq!(part.package(package), whole.package(package), "{package}");
                assert!(part.package(package).is_some());
            }
        }
    }
}
