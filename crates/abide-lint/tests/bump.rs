//! Laws of versions, over generated trees and edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_lint::{
    Bump, Config, Lock, Options, Plan, PlanVerdict, Records, VersionIn, plan_versions,
};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_upgrade::{UpgradeOptions, upgrade};
use fastrand::Rng;
use jiff::civil::date;

/// How many trees each law is tried on.
const TREES: u64 = 30;

/// A package of a generated tree; its messages refer to packages before it.
#[derive(Clone, Debug, Default)]
struct Package {
    messages: Vec<Message>,
}

#[derive(Clone, Debug, Default)]
struct Message {
    /// Names of scalar fields, by number.
    fields: BTreeMap<i32, String>,
    /// Packages whose first message a field refers to.
    uses: Vec<usize>,
}

fn name(package: usize) -> String {
    format!("acme.p{package}.v1")
}

fn any_tree(random: &mut Rng) -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    for package in 0..random.usize(2..7) {
        let mut messages = Vec::new();
        for _ in 0..random.usize(1..4) {
            let fields = (1..=random.i32(0..4)).map(|it| (it, format!("f{it}"))).collect();
            let uses = (0..package).filter(|_| random.u8(..3) == 0).collect();
            messages.push(Message { fields, uses });
        }
        packages.push(Package { messages });
    }
    packages
}

/// The files of a tree; with `noise` in another order and with comments.
fn files(packages: &[Package], noise: Option<&mut Rng>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut unused = Rng::with_seed(0);
    let is_noisy = noise.is_some();
    let random = noise.unwrap_or(&mut unused);
    for (at, package) in packages.iter().enumerate() {
        let used: BTreeSet<usize> =
            package.messages.iter().flat_map(|it| it.uses.clone()).collect();
        let mut imports: Vec<String> =
            used.iter().map(|it| format!("import \"acme/p{it}/v1/p.proto\";\n")).collect();
        let mut bodies = Vec::new();
        for (index, message) in package.messages.iter().enumerate() {
            let mut lines: Vec<String> = Vec::new();
            for (number, field) in &message.fields {
                lines.push(format!("  string {field} = {number};\n"));
            }
            for it in &message.uses {
                lines.push(format!("  acme.p{it}.v1.M0 r{it} = {};\n", 100 + it));
            }
            if is_noisy {
                random.shuffle(&mut lines);
                lines.insert(0, "  // What it is about.\n\n".to_owned());
            }
            bodies.push(format!("message M{index} {{\n{}}}\n", lines.concat()));
        }
        if is_noisy {
            random.shuffle(&mut imports);
            random.shuffle(&mut bodies);
        }
        let text = format!(
            "syntax = \"proto3\";\npackage {};\n{}{}",
            name(at),
            imports.concat(),
            bodies.concat()
        );
        files.push((format!("acme/p{at}/v1/p.proto"), text));
    }
    if is_noisy {
        random.shuffle(&mut files);
    }
    files
}

fn link(files: &[(String, String)]) -> Tree {
    let parse = |(path, text): &(String, String)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(files.iter().map(parse).collect());
    let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{files:?}");
    tree
}

fn tree(packages: &[Package]) -> Tree {
    link(&files(packages, None))
}

fn plan_with(
    new: &Tree,
    old: Option<&Tree>,
    toml: &str,
    lock: Option<&Lock>,
    released: Option<&Lock>,
    version_in: VersionIn,
) -> Plan {
    let policy = Config::parse(toml, None).expect("the configuration is right").policy;
    let options = Options {
        baseline: old,
        records: Records { version_in, lock, released, ..Records::default() },
        versions: true,
        ..Options::on(date(2026, 1, 15))
    };
    plan_versions(new, &policy, options)
}

/// The plan from a release that recorded its own versions.
fn since(new: &Tree, old: &Tree) -> Plan {
    let first = plan_with(old, None, "", None, None, VersionIn::Lock).lock;
    plan_with(new, Some(old), "", Some(&first), Some(&first), VersionIn::Lock)
}

fn verdicts(plan: &Plan) -> Vec<(String, Bump, Option<String>, PlanVerdict)> {
    let version = |it: &abide_lint::PackagePlan| it.to.as_ref().map(ToString::to_string);
    plan.packages.iter().map(|it| (it.name.clone(), it.required, version(it), it.verdict)).collect()
}

/// Which packages reach the first message of a package.
fn reaching(packages: &[Package], target: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::from([target]);
    // What reaches by way of the first message alone: others are not referred to.
    let mut leading = BTreeSet::from([target]);
    for (at, package) in packages.iter().enumerate().skip(target + 1) {
        if package.messages.iter().any(|it| it.uses.iter().any(|it| leading.contains(it))) {
            found.insert(at);
        }
        if package.messages[0].uses.iter().any(|it| leading.contains(it)) {
            leading.insert(at);
        }
    }
    found.into_iter().map(name).collect()
}

#[test]
fn a_change_in_a_leaf_raises_exactly_the_packages_that_reach_it() {
    let (mut caught_up, mut stayed) = (0, 0);
    for seed in 0..TREES {
        let mut random = Rng::with_seed(seed);
        let packages = any_tree(&mut random);
        let target = random.usize(..packages.len());
        let mut changed = packages.clone();
        changed[target].messages[0].fields.insert(50, "more".to_owned());
        let plan = since(&tree(&changed), &tree(&packages));
        let wanted = reaching(&packages, target);
        for package in &plan.packages {
            let risen = package.required != Bump::None;
            assert_eq!(risen, wanted.contains(&package.name), "{seed}: {package:?}");
            assert_eq!(package.catches_up, risen && package.name != name(target), "{package:?}");
            let to = if risen { "1.1.0" } else { "1.0.0" };
            assert_eq!(package.to.as_ref().map(ToString::to_string).as_deref(), Some(to));
            if package.catches_up {
                let [reason] = &package.reasons[..] else { panic!("one reason: {package:?}") };
                assert_eq!(reason.element, format!("{}.M0", name(target)));
                assert_eq!(reason.via.last(), Some(&reason.element));
                assert!(reason.via[0].starts_with(&package.name), "{reason:?}");
                caught_up += 1;
            }
            stayed += usize::from(!risen);
        }
    }
    assert!(caught_up > 10 && stayed > 10, "{caught_up} caught up, {stayed} stayed");
}

#[test]
fn order_and_comments_never_matter() {
    for seed in 0..TREES {
        let mut random = Rng::with_seed(seed);
        let packages = any_tree(&mut random);
        let old = tree(&packages);
        let same = link(&files(&packages, Some(&mut random)));
        let plan = since(&same, &old);
        assert!(plan.is_recorded() && plan.required_bump() == Bump::None, "{:?}", plan.packages);

        let mut changed = packages.clone();
        let target = random.usize(..packages.len());
        changed[target].messages[0].fields.insert(50, "more".to_owned());
        let noisy = link(&files(&changed, Some(&mut random)));
        let (plain, noisy) = (since(&tree(&changed), &old), since(&noisy, &old));
        assert_eq!(verdicts(&plain), verdicts(&noisy), "{seed}");
        assert_eq!(plain.lock, noisy.lock);
        let reasons =
            |it: &Plan| -> Vec<_> { it.packages.iter().map(|it| it.reasons.clone()).collect() };
        assert_eq!(reasons(&plain), reasons(&noisy));
    }
}

/// An edit at random; some break.
fn edit(packages: &mut [Package], random: &mut Rng) {
    let package = random.usize(..packages.len());
    let messages = &mut packages[package].messages;
    match random.u8(..6) {
        0 => messages.push(Message::default()),
        1 if messages[0].fields.contains_key(&1) => drop(messages[0].fields.remove(&1)),
        2 if package > 0 && messages[0].uses.is_empty() => messages[0].uses.push(package - 1),
        _ => {
            let number = random.i32(10..60);
            messages[0].fields.insert(number, format!("f{number}"));
        }
    }
}

#[test]
fn more_changes_never_lower_a_bump_and_recording_twice_is_recording_once() {
    let (mut refused, mut risen, mut waiting) = (0, 0, 0);
    for seed in 0..TREES {
        let mut random = Rng::with_seed(seed);
        let packages = any_tree(&mut random);
        let old = tree(&packages);
        let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
        let mut lock = first.clone();
        let mut changed = packages.clone();
        let mut before: Vec<Bump> = vec![Bump::None; packages.len()];
        for _ in 0..4 {
            // What only adds to what there is: an edit that undoes another is no more change.
            let snapshot = changed.clone();
            edit(&mut changed, &mut random);
            let new = tree(&changed);
            let plan = plan_with(&new, Some(&old), "", Some(&lock), Some(&first), VersionIn::Lock);
            let bumps: Vec<Bump> = plan.packages.iter().map(|it| it.required).collect();
            let lowered = bumps.iter().zip(&before).any(|(now, before)| now < before);
            assert!(!lowered, "{seed}: {before:?} {bumps:?}\n{snapshot:?}\n{changed:?}");
            before = bumps;
            for package in &plan.packages {
                refused += usize::from(package.verdict == PlanVerdict::Refused);
                risen += usize::from(package.verdict == PlanVerdict::Unrecorded);
                assert_eq!(
                    package.verdict == PlanVerdict::Refused,
                    package.required == Bump::Major
                );
            }
            let again =
                plan_with(&new, Some(&old), "", Some(&plan.lock), Some(&first), VersionIn::Lock);
            assert_eq!(again.lock, plan.lock, "{seed}");
            for package in &plan.packages {
                let broken = package.waits_for.as_ref();
                assert_eq!(package.verdict == PlanVerdict::Waiting, broken.is_some());
                waiting += usize::from(broken.is_some());
                let is_refused = |name: &String| {
                    plan.packages
                        .iter()
                        .any(|it| it.name == *name && it.verdict == PlanVerdict::Refused)
                };
                assert!(broken.is_none_or(is_refused), "{seed}: {package:?}");
                let kept = lock.record(&package.name) == plan.lock.record(&package.name);
                assert!(broken.is_none() || kept, "{seed}: {package:?}");
            }
            assert_eq!(again.count(PlanVerdict::Unrecorded), 0, "{seed}: {:?}", again.packages);
            assert!(again.is_recorded());
            // Nor does the order in which it was recorded matter.
            let at_once =
                plan_with(&new, Some(&old), "", Some(&first), Some(&first), VersionIn::Lock);
            if plan.count(PlanVerdict::Refused) == 0 {
                assert_eq!(at_once.lock, plan.lock, "{seed}");
            }
            let text = plan.lock.to_string();
            lock = Lock::parse(&text).expect("what is written can be read");
            assert_eq!(lock, plan.lock);
        }
    }
    assert!(refused > 5 && risen > 30, "{refused} refused, {risen} risen");
    assert!(waiting > 2, "{waiting} waiting");
}

fn one(text: &str) -> Tree {
    let package = text.lines().find_map(|it| it.strip_prefix("package ")).unwrap_or("x;");
    let path = format!("{}/a.proto", package.trim_end_matches(';').replace('.', "/"));
    link(&[(path, format!("syntax = \"proto3\";\n{text}"))])
}

fn row(plan: &Plan) -> (Bump, Option<String>, PlanVerdict) {
    let [package] = &plan.packages[..] else { panic!("one package: {:?}", plan.packages) };
    (package.required, package.to.as_ref().map(ToString::to_string), package.verdict)
}

const USER: &str = "package acme.v3;\nmessage User { string id = 1; string mail = 2; }\n";

#[test]
fn a_security_fix_is_a_patch() {
    let old = one(USER);
    let added = |comment: &str| {
        one(&format!(
            "package acme.v3;\nmessage User {{ string id = 1; string mail = 2;\n{comment}\n  bool masked = 3; }}\n"
        ))
    };
    let patch = (Bump::Patch, Some("3.0.1".to_owned()), PlanVerdict::Unrecorded);
    let minor = (Bump::Minor, Some("3.1.0".to_owned()), PlanVerdict::Unrecorded);
    let marked = added("  // abide:security-fix: mails leaked into logs");
    assert_eq!(row(&since(&marked, &old)), patch);
    assert_eq!(row(&since(&added("  // mends a hole"), &old)), minor);
    assert_eq!(row(&since(&added("  // abide:security-fix"), &old)), minor, "without a reason");

    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let from = |new: &Tree, old: &Tree, toml: &str| {
        row(&plan_with(new, Some(old), toml, Some(&first), Some(&first), VersionIn::Lock))
    };
    let toml = "[[security-fix]]\nelement = \"acme.v3.User.masked\"\nreason = \"logs\"\n";
    assert_eq!(from(&added(""), &old, toml), patch);
    let more = one(&USER.replace("{", "{ bool masked = 3; int32 age = 4;"));
    assert_eq!(from(&more, &old, toml), minor, "one change that is none");
    // The mark of an earlier fix says nothing of what comes later.
    let later = one(
        "package acme.v3;\nmessage User { string id = 1; string mail = 2;\n  // abide:security-fix: \
         mails leaked into logs\n  bool masked = 3 [deprecated = true]; }\n",
    );
    assert_eq!(from(&later, &marked, "").0, Bump::Minor);
    // A break stays one.
    let broken =
        one("package acme.v3;\n// abide:security-fix: it leaks\nmessage User { string id = 1; }\n");
    assert_eq!(from(&broken, &old, ""), (Bump::Major, None, PlanVerdict::Refused));
}

#[test]
fn a_break_is_refused_unless_it_is_waived() {
    let broken = "message User { string id = 1; }\n";
    let refused = |package: &str| {
        let text = format!("package {package};\n");
        let old = one(&(text.clone() + "message User { string id = 1; string mail = 2; }\n"));
        row(&since(&one(&(text + broken)), &old))
    };
    assert_eq!(refused("acme.v3"), (Bump::Major, None, PlanVerdict::Refused));
    assert_eq!(refused("acme.type"), (Bump::Major, None, PlanVerdict::Refused));
    let raised = |version: &str| (Some(version.to_owned()), PlanVerdict::Unrecorded);
    for (package, version) in [
        ("acme.v3alpha", "3.0.0-alpha.2"),
        ("acme.v3beta", "3.0.0-beta.2"),
        ("acme.v1p1beta1", "1.1.0-beta.1.2"),
        ("acme.v0", "0.1.0"),
    ] {
        let (bump, to, verdict) = refused(package);
        assert_eq!((to, verdict), raised(version), "{package}");
        assert_eq!(bump, Bump::Minor, "{package}");
    }
    let old = one(USER);
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let waiver = "[[waiver]]\nrule = \"field-removed\"\nelement = \"acme.v3.User.mail\"\nreason = \"unused\"\n";
    let new = one(&format!("package acme.v3;\n{broken}"));
    let plan = plan_with(&new, Some(&old), waiver, Some(&first), Some(&first), VersionIn::Lock);
    assert_eq!(row(&plan), (Bump::Minor, Some("3.1.0".to_owned()), PlanVerdict::Unrecorded));
    assert_eq!(plan.packages[0].reasons[0].rule, Some("field-removed"));
    // A waived removal frees number and name, and the ledger remembers.
    assert!(plan.lock.to_string().contains("\nfield acme.v3.User 2 mail gone\n"), "{}", plan.lock);
    let reused = one("package acme.v3;\nmessage User { string id = 1; bytes photo = 2; }\n");
    let (lock, released) = (Some(&plan.lock), Some(&plan.lock));
    let later = plan_with(&reused, Some(&new), waiver, lock, released, VersionIn::Lock);
    assert_eq!(row(&later), (Bump::Major, None, PlanVerdict::Refused));
    assert_eq!(later.packages[0].candidates, BTreeSet::from(["acme.v4alpha".to_owned()]));
    assert_eq!(later.packages[0].reasons[0].rule, Some("field-number-reused"));
    assert_eq!(later.lock, plan.lock, "what is refused is not recorded");
}

/// `abide check` and `abide bump` count alike, whatever is broken where, and
/// whether it is waived or accepted.
#[test]
fn check_and_bump_ask_for_the_same() {
    const WAIVER: &str =
        "[[waiver]]\nrule = \"field-removed\"\nelement = \"acme.**\"\nreason = \"unused\"\n";
    let fixed = "message User { string id = 1; string mail = 2;\n\
                 // abide:security-fix: it leaks\n  bool masked = 3; }\n";
    let whole = "message User { string id = 1; string mail = 2; }\n";
    let broken = "message User { string id = 1; }\n";
    for (package, toml, new, bump, waives) in [
        ("acme.v3", "", whole, Bump::None, false),
        ("acme.v3", "", fixed, Bump::Patch, false),
        ("acme.v3", "", broken, Bump::Major, false),
        ("acme.v3", WAIVER, broken, Bump::Minor, true),
        ("acme.v3", "[rules]\nfield-removed = \"note\"", broken, Bump::Minor, false),
        ("acme.v3alpha", "", broken, Bump::Minor, false),
        ("acme.v3alpha", WAIVER, broken, Bump::Minor, false),
        ("acme.v0", "", broken, Bump::Minor, false),
    ] {
        let [old, new] = [whole, new].map(|it| one(&format!("package {package};\n{it}")));
        let policy = Config::parse(toml, None).expect("it is well-formed").policy;
        let options = Options { baseline: Some(&old), ..Options::on(date(2026, 1, 15)) };
        let report = abide_lint::check(&new, &policy, options);
        assert_eq!(report.required_bump, Some(bump), "{package} {toml}");
        assert_eq!(report.waives_breaks, waives, "{package} {toml}");
        let plan = abide_lint::plan_versions(&new, &policy, options);
        assert_eq!(plan.required_bump(), bump, "{package} {toml}");
        let reasons = plan.packages.iter().flat_map(|it| &it.reasons);
        assert_eq!(reasons.filter(|it| it.waived).count(), usize::from(waives), "{package}");
        let accepted =
            abide_lint::Accepted::parse(&abide_lint::Accepted::text("", &report.findings))
                .expect("what is written is read");
        let options = Options { accepted: Some(&accepted), ..options };
        let lower = bump.min(Bump::Minor);
        assert_eq!(
            abide_lint::check(&new, &policy, options).required_bump,
            Some(lower),
            "{package}"
        );
        assert_eq!(
            abide_lint::plan_versions(&new, &policy, options).required_bump(),
            lower,
            "{package}"
        );
    }
}

#[test]
fn a_major_outside_of_its_window_is_not_recorded() {
    let v1 = (
        "acme/v1/a.proto".to_owned(),
        format!("syntax = \"proto3\";\n{}", USER.replace("v3", "v1")),
    );
    let v2 = (
        "acme/v2/a.proto".to_owned(),
        format!("syntax = \"proto3\";\n{}", USER.replace("v3", "v2")),
    );
    let old = link(std::slice::from_ref(&v1));
    let new = link(&[v1, v2]);
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let planned =
        |toml: &str| plan_with(&new, Some(&old), toml, Some(&first), Some(&first), VersionIn::Lock);
    // The day is 15 January.
    let window = "[calendar]\napi-releases = [\"01-31\"]\nmajor-window-days = 30\n";
    assert_eq!(planned(window).packages[1].verdict, PlanVerdict::Unrecorded);
    let none = "[calendar]\napi-releases = [\"06-30\"]\nmajor-window-days = 30\n";
    let plan = planned(none);
    let early = &plan.packages[1];
    assert_eq!((early.verdict, &early.to), (PlanVerdict::Early, &None));
    assert_eq!(early.reasons[0].rule, Some("major-outside-window"));
    assert!(!plan.lock.to_string().contains("acme.v2"), "{}", plan.lock);
    for more in [
        "[rules]\nmajor-outside-window = \"off\"",
        "[rules]\nmajor-outside-window = \"warning\"",
        "[[waiver]]\nrule = \"major-outside-window\"\nelement = \"acme.v2\"\nreason = \"agreed\"",
    ] {
        let plan = planned(&format!("{none}{more}\n"));
        assert_eq!(plan.packages[1].verdict, PlanVerdict::Unrecorded, "{more}");
    }
}

#[test]
fn without_a_release_only_the_agreement_is_told() {
    let (old, new) = (one(USER), one(&USER.replace("{", "{ int32 age = 4;")));
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock);
    assert_eq!(row(&first), (Bump::None, Some("3.0.0".to_owned()), PlanVerdict::Unrecorded));
    let alone = |tree: &Tree| plan_with(tree, None, "", Some(&first.lock), None, VersionIn::Lock);
    assert_eq!(row(&alone(&old)), (Bump::None, Some("3.0.0".to_owned()), PlanVerdict::Recorded));
    assert_eq!(row(&alone(&new)), (Bump::None, None, PlanVerdict::Unknown));
    assert_eq!(alone(&new).lock, first.lock, "nothing is recorded of what nobody knows");
    // An alpha counts every change.
    let alpha = |text: &str| one(&text.replace("v3", "v3alpha1"));
    let first = plan_with(&alpha(USER), None, "", None, None, VersionIn::Lock).lock;
    let changed = alpha(&USER.replace("{", "{ int32 age = 4;"));
    let plan = plan_with(&changed, None, "", Some(&first), None, VersionIn::Lock);
    let next = Some("3.0.0-alpha.1.2".to_owned());
    assert_eq!(row(&plan), (Bump::Minor, next.clone(), PlanVerdict::Unrecorded));
    let again = plan_with(&changed, None, "", Some(&plan.lock), None, VersionIn::Lock);
    assert_eq!(row(&again), (Bump::None, next, PlanVerdict::Recorded));
    assert!(!again.lock.to_string().contains("field "), "an alpha has no ledger");
}

#[test]
fn a_version_never_falls() {
    let (old, new) = (one(USER), one(&USER.replace("{", "{ int32 age = 4;")));
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let ahead = first.to_string().replace(" 3.0.0 ", " 3.7.0 ");
    let ahead = Lock::parse(&ahead).expect("a record");
    let plan = |new: &Tree| {
        row(&plan_with(new, Some(&old), "", Some(&ahead), Some(&first), VersionIn::Lock))
    };
    assert_eq!(plan(&old), (Bump::None, Some("3.7.0".to_owned()), PlanVerdict::Recorded));
    assert_eq!(plan(&new), (Bump::Minor, Some("3.7.0".to_owned()), PlanVerdict::Unrecorded));
    // A release without a record, as a descriptor set is: the record of the same meaning counts.
    let plan = plan_with(&new, Some(&old), "", Some(&first), None, VersionIn::Lock);
    assert_eq!(row(&plan), (Bump::Minor, Some("3.1.0".to_owned()), PlanVerdict::Unrecorded));
}

#[test]
fn a_release_that_was_not_what_it_recorded_is_left_behind() {
    let (first, released) = (one(USER), one(&USER.replace("{", "{ int32 age = 4;")));
    let lock = plan_with(&first, None, "", None, None, VersionIn::Lock).lock;
    let plan = |new: &Tree| {
        row(&plan_with(new, Some(&released), "", Some(&lock), Some(&lock), VersionIn::Lock))
    };
    let next = (Bump::Minor, Some("3.1.0".to_owned()), PlanVerdict::Unrecorded);
    assert_eq!(plan(&released), next);
    assert_eq!(plan(&one(&USER.replace("{", "{ int32 age = 4; int32 more = 5;"))), next);
}

#[test]
fn a_package_that_is_gone_is_remembered() {
    let both = link(&[
        (
            "a/v1/a.proto".to_owned(),
            "syntax = \"proto3\";\npackage a.v1;\nmessage A { int32 x = 1; }\n".to_owned(),
        ),
        (
            "b/v1/b.proto".to_owned(),
            "syntax = \"proto3\";\npackage b.v1;\nmessage B {}\n".to_owned(),
        ),
    ]);
    let left = one("package b.v1;\nmessage B {}\n");
    let first = plan_with(&both, None, "", None, None, VersionIn::Lock).lock;
    let plan = plan_with(&left, Some(&both), "", Some(&first), Some(&first), VersionIn::Lock);
    let gone = &plan.packages[0];
    assert_eq!((gone.name.as_str(), gone.verdict), ("a.v1", PlanVerdict::Refused));
    assert_eq!(plan.lock, first);
    let waiver = "[[waiver]]\nrule = \"package-removed\"\nelement = \"a.v1\"\nreason = \"unused\"\n\
                  [[waiver]]\nrule = \"message-removed\"\nelement = \"a.v1\"\nreason = \"unused\"\n\
                  [[waiver]]\nrule = \"file-removed\"\nelement = \"a/v1/a.proto\"\nreason = \"unused\"\n";
    let plan = plan_with(&left, Some(&both), waiver, Some(&first), Some(&first), VersionIn::Lock);
    assert_eq!(plan.packages[0].verdict, PlanVerdict::Unrecorded, "{:?}", plan.packages[0]);
    let text = plan.lock.to_string();
    assert!(
        text.contains("\nfield a.v1.A 1 x gone\n")
            && text.contains("gone\nintroduced a.v1 2026-01-15\nfield"),
        "{text}"
    );
    // It goes on where it was.
    let back =
        plan_with(&both, Some(&left), waiver, Some(&plan.lock), Some(&plan.lock), VersionIn::Lock);
    assert_eq!(back.packages[0].to.as_ref().map(ToString::to_string).as_deref(), Some("1.1.0"));
}

/// Files of one syntax, by path and body.
fn several(files: &[(&str, &str)]) -> Tree {
    let whole =
        |(path, body): &(&str, &str)| ((*path).to_owned(), format!("syntax = \"proto3\";\n{body}"));
    link(&files.iter().map(whole).collect::<Vec<_>>())
}

#[test]
fn a_break_without_another_meaning_is_refused_too() {
    let head = "package p.v1;\noption java_package = \"j\";\n";
    // Names that Java would not derive.
    let [a, b] = ["X", "Y"].map(|it| format!("{head}option java_outer_classname = \"{it}\";\n"));
    let old = several(&[
        ("p/v1/a.proto", &format!("{a}message M {{ int32 a = 1; }}\nmessage K {{}}")),
        ("p/v1/b.proto", &format!("{b}message N {{}}")),
    ]);
    let new = several(&[
        ("p/v1/a.proto", &format!("{a}message K {{}}")),
        ("p/v1/b.proto", &format!("{b}message N {{}}\nmessage M {{ int32 a = 1; }}")),
    ]);
    let plan = since(&new, &old);
    assert_eq!(plan.packages[0].hash_old, plan.packages[0].hash_new);
    assert_eq!(row(&plan), (Bump::Major, None, PlanVerdict::Refused));
    assert_eq!(plan.packages[0].reasons[0].rule, Some("message-moved"));
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let waiver =
        "[[waiver]]\nrule = \"message-moved\"\nelement = \"p.v1.**\"\nreason = \"agreed\"\n";
    let waived = plan_with(&new, Some(&old), waiver, Some(&first), Some(&first), VersionIn::Lock);
    assert_eq!(row(&waived), (Bump::Minor, Some("1.1.0".to_owned()), PlanVerdict::Unrecorded));
    let (lock, released) = (Some(&waived.lock), Some(&first));
    let again = plan_with(&new, Some(&old), waiver, lock, released, VersionIn::Lock);
    assert_eq!(row(&again), (Bump::Minor, Some("1.1.0".to_owned()), PlanVerdict::Recorded));
    // A file whose content came from others is nothing by itself.
    let split = several(&[
        ("p/v1/a.proto", &format!("{a}message M {{ int32 a = 1; }}\nmessage K {{}}")),
        ("p/v1/b.proto", &format!("{b}message N {{}}")),
        ("p/v1/c.proto", &b),
    ]);
    assert_eq!(since(&split, &old).packages[0].required, Bump::None);
}

#[test]
fn nothing_hides_behind_a_security_fix() {
    let mark = "// abide:security-fix: it leaks\n";
    let old =
        "message T { int32 a = 1; }\nenum E { ZERO = 0; }\nservice S { rpc A(T) returns (T); }";
    let fixed = format!("message T {{ int32 a = 1;\n{mark}int32 b = 2; }}");
    let rest = "enum E { ZERO = 0; }\nservice S { rpc A(T) returns (T); }";
    let required = |new: &str| {
        let [old, new] = [old, new].map(|it| one(&format!("package p.v1;\n{it}")));
        let plan = since(&new, &old);
        let options = Options { baseline: Some(&old), ..Options::on(date(2026, 1, 15)) };
        let policy = Config::parse("", None).expect("it is well-formed").policy;
        let report = abide_lint::check(&new, &policy, options);
        assert_eq!(report.required_bump, Some(plan.packages[0].required), "check and bump agree");
        let reasons = &plan.packages[0].reasons;
        assert!(reasons.is_sorted_by_key(|it| std::cmp::Reverse(it.bump)), "{reasons:?}");
        let unnamed = reasons.iter().filter(|it| it.rule.is_none());
        (plan.packages[0].required, unnamed.map(|it| it.element.clone()).collect::<Vec<_>>())
    };
    let (patch, minor) = (Bump::Patch, Bump::Minor);
    assert_eq!(required(old), (Bump::None, vec![]));
    assert_eq!(required(&format!("{fixed}\n{rest}")), (patch, vec![]));
    let unnamed = |element: &str| (minor, vec![element.to_owned()]);
    // Beside it in the message, in a nested one, in an enum, a service, and by itself.
    let also = |what: &str| {
        format!("{}\n{rest}", fixed.replace("int32 a = 1;", &format!("int32 a = 1; {what}")))
    };
    assert_eq!(required(&also("reserved 7;")), unnamed("p.v1.T"));
    assert_eq!(required(&also("option deprecated = false;")), (patch, vec![]));
    assert_eq!(
        required(&format!("{fixed}\n{}", rest.replace("ZERO = 0;", "ZERO = 0; reserved 7;"))),
        unnamed("p.v1.E")
    );
    assert_eq!(required(&format!("{old}\nmessage U {{}}").replace("U {}", "U { }")).0, minor);
    assert_eq!(
        required(&old.replace("int32 a = 1;", "int32 a = 1; reserved 7;")),
        unnamed("p.v1.T")
    );
    // The mark covers what no rule names, too.
    let marked = format!("{mark}message T {{ int32 a = 1; reserved 7; }}\n{rest}");
    assert_eq!(required(&marked), (patch, vec!["p.v1.T".to_owned()]));
    // A field and a value of a type that is mended elsewhere.
    let value =
        format!("{fixed}\n{}", rest.replace("ZERO = 0;", &format!("ZERO = 0;\n{mark}ONE = 1;")));
    assert_eq!(required(&value), (patch, vec![]));
    let jumped = format!(
        "{fixed}\n{}",
        rest.replace("ZERO = 0;", &format!("ZERO = 0; TWO = 2;\n{mark}ONE = 1;"))
    );
    assert_eq!(required(&jumped), (minor, vec![]));
}

#[test]
fn only_a_mark_makes_a_patch() {
    let [old, new] = ["false", "true"].map(|packed| {
        one(&format!("package p.v1;\nmessage U {{ repeated int32 a = 1 [packed = {packed}]; }}"))
    });
    assert_eq!(since(&new, &old).packages[0].required, Bump::Minor);
}

#[test]
fn catching_up_counts_what_is_reached() {
    let mark = "// abide:security-fix: it leaks\n";
    let user =
        ("b/v1/b.proto", "package b.v1;\nimport \"p/v1/a.proto\";\nmessage B { p.v1.T t = 1; }");
    let side = |body: &str| several(&[("p/v1/a.proto", &format!("package p.v1;\n{body}")), user]);
    let old = side("message T { int32 a = 1; }\nmessage U {}");
    let bumps = |body: &str| {
        let plan = since(&side(body), &old);
        let [b, p] = &plan.packages[..] else { panic!("two packages") };
        (b.required, b.catches_up, p.required)
    };
    let fixed = format!("message T {{ int32 a = 1;\n{mark}int32 b = 2; }}");
    assert_eq!(bumps(&format!("{fixed}\nmessage U {{}}")), (Bump::Patch, true, Bump::Patch));
    // What is elsewhere in that package concerns nobody who does not reach it.
    let elsewhere = format!("{fixed}\nmessage U {{ int32 plain = 1; }}");
    assert_eq!(bumps(&elsewhere), (Bump::Patch, true, Bump::Minor));
    assert_eq!(bumps(&format!("{fixed}\nmessage U {{ reserved 5; }}")).0, Bump::Patch);
    let within = fixed.replace("a = 1;", "a = 1; reserved 7;");
    assert_eq!(bumps(&format!("{within}\nmessage U {{}}")), (Bump::Minor, true, Bump::Minor));
    // A break elsewhere keeps nobody waiting, one that is reached does.
    let refused = since(&side(&fixed), &old_with(&user)).packages;
    assert_eq!(
        (refused[0].verdict, refused[1].verdict),
        (PlanVerdict::Unrecorded, PlanVerdict::Refused)
    );
    let waiting = since(&side("message T {}\nmessage U {}"), &old).packages;
    assert_eq!(waiting[0].verdict, PlanVerdict::Waiting);
}

fn old_with(user: &(&str, &str)) -> Tree {
    let body =
        "package p.v1;\nmessage T { int32 a = 1; }\nmessage U {}\nmessage Gone { int32 x = 1; }";
    several(&[("p/v1/a.proto", body), *user])
}

#[test]
fn a_mark_of_an_earlier_fix_stays_one_in_another_file() {
    let mark = "// abide:security-fix: CVE-1\n";
    let first = "package p.v1;\nmessage K {}\n";
    let v = format!("{mark}message V {{ int32 a = 1; }}");
    let old =
        several(&[("p/v1/a.proto", &format!("{first}{v}")), ("p/v1/b.proto", "package p.v1;")]);
    let more = v.replace("a = 1;", "a = 1; int32 plain = 2;");
    let new =
        several(&[("p/v1/a.proto", first), ("p/v1/b.proto", &format!("package p.v1;\n{more}"))]);
    let lock = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let toml = "[rules]\nmessage-moved = \"warning\"\n";
    let plan = plan_with(&new, Some(&old), toml, Some(&lock), Some(&lock), VersionIn::Lock);
    assert_eq!(plan.packages[0].required, Bump::Minor, "{:?}", plan.packages[0].reasons);
    // A later one whose reason is a part of an earlier one's, or the same elsewhere, is new.
    let old = one(&format!(
        "package p.v1;\n{mark}message V {{ int32 a = 1; }}\nmessage W {{ int32 a = 1; }}"
    ));
    for reason in ["CVE", "CVE-1"] {
        let new = one(&format!(
            "package p.v1;\n{mark}message V {{ int32 a = 1; }}\nmessage W {{ int32 a = 1;\n\
             // abide:security-fix: {reason}\nint32 b = 2; }}"
        ));
        assert_eq!(since(&new, &old).packages[0].required, Bump::Patch, "{reason}");
    }
}

#[test]
fn what_was_counted_from_a_release_without_a_record_is_counted_on() {
    let body = "message User { string id = 1;";
    let old = one(&format!("package p.v1;\n{body} }}"));
    let fixed = format!("package p.v1;\n{body}\n// abide:security-fix: it leaks\nbool b = 2;");
    let plan = |new: &str, lock: &Lock| {
        plan_with(&one(&format!("{new} }}")), Some(&old), "", Some(lock), None, VersionIn::Lock)
    };
    let first = plan_with(&old, None, "", None, None, VersionIn::Lock).lock;
    let patched = plan(&fixed, &first);
    assert_eq!(row(&patched).1.as_deref(), Some("1.0.1"));
    let more = format!("{fixed} int32 plain = 3;");
    let next = plan(&more, &patched.lock);
    assert_eq!(row(&next), (Bump::Minor, Some("1.1.0".to_owned()), PlanVerdict::Unrecorded));
    assert_eq!(row(&next).1, row(&plan(&more, &first)).1, "one step or two");
    assert_eq!(row(&plan(&more, &next.lock)).2, PlanVerdict::Recorded);
    assert_eq!(row(&plan(&fixed, &patched.lock)).2, PlanVerdict::Recorded);
}

#[test]
fn versions_move_to_another_place_without_a_release() {
    let tree = one(USER);
    let lock = plan_with(&tree, None, "", None, None, VersionIn::Lock).lock;
    let lock = Lock::parse(&lock.to_string().replace(" 3.0.0 ", " 3.4.1 ")).expect("a record");
    let moved = plan_with(&tree, None, "", Some(&lock), None, VersionIn::Option);
    assert_eq!(row(&moved), (Bump::None, Some("3.4.1".to_owned()), PlanVerdict::Unrecorded));
    let changed = one(&USER.replace("{", "{ int32 age = 4;"));
    let plan = plan_with(&changed, None, "", Some(&lock), None, VersionIn::Option);
    assert_eq!(row(&plan), (Bump::None, None, PlanVerdict::Unknown));
}

#[test]
fn the_ledger_goes_along_with_a_new_name() {
    let tree =
        |body: &str| one(&format!("package p.v1;\noption java_outer_classname = \"O\";\n{body}"));
    let plan = |new: &Tree, old: &Tree, lock: &Lock, released: &Lock| {
        let waive = |it: &str| {
            format!("[[waiver]]\nrule = \"{it}\"\nelement = \"p.v1.**\"\nreason = \"agreed\"\n")
        };
        let waivers = ["field-removed", "message-renamed"].map(waive).concat();
        plan_with(new, Some(old), &waivers, Some(lock), Some(released), VersionIn::Lock)
    };
    let whole = tree(
        "message A { string a = 1; int64 c = 3; bytes d = 4; bool e = 5; float f = 6; double g = 7; string b = 2; message N { string x = 1; string y = 2; } }",
    );
    let less = tree(
        "message A { string a = 1; int64 c = 3; bytes d = 4; bool e = 5; float f = 6; double g = 7; message N { string x = 1; } }",
    );
    let renamed = tree(
        "message B { string a = 1; int64 c = 3; bytes d = 4; bool e = 5; float f = 6; double g = 7; message N { string x = 1; } }",
    );
    let lock = plan_with(&whole, None, "", None, None, VersionIn::Lock).lock;
    let lock = plan(&less, &whole, &lock, &lock).lock;
    let plan_renamed = plan(&renamed, &less, &lock, &lock);
    assert_eq!(
        plan_renamed.packages[0].verdict,
        PlanVerdict::Unrecorded,
        "{:?}",
        plan_renamed.packages
    );
    for line in [
        "field p.v1.B 2 b gone",
        "field p.v1.B 1 a",
        "field p.v1.B.N 2 y gone",
        "field p.v1.A 2 b gone",
    ] {
        let text = plan_renamed.lock.to_string();
        assert!(text.lines().any(|it| it == line), "{line} in {text}");
    }
    assert_eq!(plan(&renamed, &less, &plan_renamed.lock, &lock).lock, plan_renamed.lock);
    let reused = tree(
        "message B { string a = 1; int64 c = 3; bytes d = 4; bool e = 5; float f = 6; double g = 7; int32 q = 2; message N { string x = 1; } }",
    );
    for (old, lock) in [(&renamed, &plan_renamed.lock), (&less, &lock)] {
        let plan = plan(&reused, old, lock, lock);
        assert_eq!(
            plan.packages[0].verdict,
            PlanVerdict::Refused,
            "{:?}",
            plan.packages[0].reasons
        );
        let rules = plan.packages[0].reasons.iter().filter_map(|it| it.rule);
        assert!(rules.into_iter().any(|it| it == "field-number-reused"));
    }
}

/// What `abide bump` names as the place for a break is what `abide upgrade`
/// makes, whatever the configuration says about the next major version.
#[test]
fn what_is_named_for_a_break_is_what_an_upgrade_makes() {
    let status = include_str!("../../../api/abide/annotations/v1/status.proto");
    let status = ("abide/annotations/v1/status.proto", status);
    let tree = |files: &[(&str, &str)]| {
        let parse = |(path, text): (&str, &str), imported: bool| {
            let path: Arc<str> = path.into();
            let (display, text) = (Arc::clone(&path), text.as_bytes().into());
            Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
        };
        let own = files.iter().map(|it| parse(*it, false));
        Tree::link(own.chain([parse(status, true)]).collect())
    };
    let user = |package: &str, field: &str| {
        format!(
            "syntax = \"proto3\";\npackage {package};\nmessage User {{ string {field} = 1; }}\n"
        )
    };
    let moved = "syntax = \"proto3\";\npackage acme.user.v2;\n\
                 import \"abide/annotations/v1/status.proto\";\n\
                 option (abide.annotations.v1.file_policy).move_to_package = \"acme.group.v3\";\n\
                 message Group {}\n";
    let mut named = BTreeSet::new();
    for (package, toml) in [
        ("acme.user.v2", ""),
        ("acme.user.v2", "[upgrade.majors]\n2 = \"v4alpha\"\n"),
        ("acme.user.v2", "[upgrade.packages]\n\"acme.user.v2\" = \"acme.people.v3alpha\"\n"),
        ("acme.user.v2", "[upgrade]\nstable-moves = true\n"),
        ("acme.user.v1", ""),
    ] {
        // With a later version a first one is frozen.
        let (old, new) = (user(package, "name"), user(package, "title"));
        let later = user("acme.user.v2", "name");
        let rest = [("acme/user/v2/group.proto", moved), ("acme/user/v2/later.proto", &later)];
        let rest = if package == "acme.user.v2" { &rest[..1] } else { &rest[..] };
        let path = format!("{}/user.proto", package.replace('.', "/"));
        let files = |text| [&[(path.as_str(), text)], rest].concat();
        let (old, new) = (tree(&files(&old)), tree(&files(&new)));
        let plan = plan_with(&new, Some(&old), toml, None, None, VersionIn::Lock);
        let broken = plan.packages.iter().find(|it| it.name == package).expect("it is there");
        assert_eq!(broken.verdict, PlanVerdict::Refused, "{toml}");

        let policy = Config::parse(toml, None).expect("the configuration is right").policy;
        let packages = ["acme.user.v2".to_owned()];
        let options = UpgradeOptions { packages: &packages, closure: None };
        let made = upgrade(&new, policy.upgrade_settings(), &options).expect("it can be made");
        let made: BTreeSet<String> = made.files.into_iter().map(|it| it.package).collect();
        assert_eq!(broken.candidates, made, "{package} {toml}");
        named.extend(made);
    }
    let expected = [
        "acme.group.v3",
        "acme.group.v3alpha",
        "acme.people.v3alpha",
        "acme.user.v3alpha",
        "acme.user.v4alpha",
    ];
    assert_eq!(named, expected.map(str::to_owned).into());
}
