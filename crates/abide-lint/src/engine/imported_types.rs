//! What breaks in imported files, told at the elements of checked files that hold it.

use std::collections::{BTreeMap, BTreeSet};

use abide_change::{ComparedTexts, Sides};
use abide_schema::{Element, Field, File, Part, Tree};
use rustc_hash::FxHashMap;

use super::order::sort;
use super::pipeline::run_on_sides;
use super::severity::{apply_severities, limit_to_surfaces};
use crate::finding::{Bump, Finding, Location, Severity};
use crate::inputs::{Options, RuleScope};
use crate::policy::Policy;
use crate::rule::{Context, Rule};
use crate::rules::{IMPORTED_TYPE_CHANGED, RULES};

/// The elements of checked files whose types are imported, and are not compatible with those of the
/// old tree.
pub(super) fn check_imported_types<'t>(
    context: &Context<'t>,
    options: Options<'t>,
) -> Vec<Finding> {
    let (tree, policy) = (context.tree, context.policy);
    // The rest of a tree, of which a part is checked, is checked elsewhere.
    let Some(old) = options.baseline.filter(|_| !options.partial) else { return Vec::new() };
    if !options.scope.has(IMPORTED_TYPE_CHANGED) || !policy.runs(IMPORTED_TYPE_CHANGED.defaults()) {
        return Vec::new();
    }
    let changed = find_changed_imports(old, tree, options.texts);
    if changed.is_empty() {
        return Vec::new();
    }
    let select = |it: File<'_>| it.is_imported() && changed.contains(it.path());
    let (new_alone, old_alone) = (tree.judging_only(select), old.judging_only(select));
    let broken = find_breaks(&old_alone, &new_alone, policy, options);
    if broken.is_empty() {
        return Vec::new();
    }
    let holders = BrokenTypes::of(tree, &new_alone, &old_alone, &broken);
    let mut findings = Vec::new();
    let bound = |file: &File<'_>| file.is_judged() && policy.is_bound(file.package().name());
    for element in tree.files().filter(bound).flat_map(File::elements) {
        for (part, ty) in collect_types(element) {
            let Some(cause) = holders.find_cause(&ty) else { continue };
            let name = element.full_name();
            let held = |it: &(Part, String)| it.0 == part && it.1 == ty;
            // What is new, or has another type, is judged as such.
            if !old.element_named(&name).is_some_and(|it| collect_types(it).iter().any(held)) {
                continue;
            }
            let package = element.package().name();
            let message = format!(
                "`{}` holds the imported `{ty}`, which broke: {}",
                element.relative_name(),
                cause.message
            );
            let location = Location::tree(element.place(part));
            let id = IMPORTED_TYPE_CHANGED.id;
            let mut finding = Finding::new(id, location, package, name, message);
            finding
                .why("clients that use this element break with the type that it holds")
                .help("undo the change of the imported file, or use it from the next major version on")
                .fact(cause.fingerprint());
            findings.push(finding);
        }
    }
    findings
}

/// The bump of packages that hold imported types which broke: they catch up, as `abide bump` has it.
pub(super) fn require_catching_up(findings: [&[Finding]; 2]) -> Bump {
    match findings.iter().copied().flatten().any(|it| it.rule == IMPORTED_TYPE_CHANGED.id) {
        true => Bump::Minor,
        false => Bump::None,
    }
}

/// The paths of imported files that both trees have, with different tokens.
fn find_changed_imports<'t>(
    old: &'t Tree,
    new: &'t Tree,
    texts: Option<&ComparedTexts>,
) -> BTreeSet<&'t str> {
    let imported = |tree: &'t Tree| tree.files().filter(|it| it.is_imported() && it.parses());
    let before: FxHashMap<&str, File<'_>> = imported(old).map(|it| (it.path(), it)).collect();
    let alone = ComparedTexts::default();
    let texts = texts.unwrap_or(&alone);
    let differs = |file: &File<'t>| {
        // A set has no texts, and nothing is known of its imports but what is used of them.
        let has_text = |it: &File<'_>| it.decl().source_text().is_some();
        let twin = before.get(file.path()).filter(|it| has_text(it) && has_text(file));
        twin.is_some_and(|old| !texts.have_equal_tokens(*old, *file))
    };
    imported(new).filter(differs).map(File::path).collect()
}

/// Returns what the policy refuses between two trees, in order.
fn find_breaks(old: &Tree, new: &Tree, policy: &Policy, options: Options<'_>) -> Vec<Finding> {
    let options = Options {
        scope: RuleScope::Changes,
        baseline: Some(old),
        baseline_day: None,
        bump_baseline: None,
        accepted: None,
        reached: None,
        ..options
    };
    let context = Context::new(new, policy, options);
    let compares = |it: &&'static Rule| it.needs_baseline() && policy.runs(it.defaults());
    let rules: Vec<&'static Rule> = RULES.iter().copied().filter(compares).collect();
    let sides = Sides::of(old, new);
    let mut findings = run_on_sides(&context, &rules, options, Some(&sides));
    limit_to_surfaces(options.surfaces, &mut findings);
    apply_severities(&context, &mut findings);
    findings.retain(|it| {
        it.severity == Severity::Error
            && it.change.as_ref().is_some_and(|it| it.effects.breaks_backward())
    });
    sort(&context, &[], &mut findings);
    findings
}

/// Which types hold what broke, by full name.
struct BrokenTypes<'f>(BTreeMap<String, &'f Finding>);

impl<'f> BrokenTypes<'f> {
    fn of(tree: &Tree, new: &Tree, old: &Tree, broken: &'f [Finding]) -> BrokenTypes<'f> {
        let mut holders = BTreeMap::new();
        let mut open: Vec<(String, &'f Finding)> = Vec::new();
        for finding in broken {
            let declared = new.element_named(&finding.element);
            let ty = declared
                .or_else(|| old.element_named(&finding.element))
                .and_then(find_enclosing_type);
            open.extend(ty.map(|it| (it, finding)));
        }
        // The first one that is reported of a type counts.
        open.reverse();
        let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let imported = tree.files().filter(|it| it.is_imported());
        for field in imported.flat_map(File::all_fields).filter(|it| !it.is_extension()) {
            let Some(parent) = field.parent() else { continue };
            for (_, ty) in collect_types(Element::Field(field)) {
                users.entry(ty).or_default().push(parent.full_name());
            }
        }
        while let Some((ty, finding)) = open.pop() {
            if holders.contains_key(&ty) {
                continue;
            }
            let around = users.get(&ty).into_iter().flatten();
            open.splice(..0, around.map(|it| (it.clone(), finding)));
            holders.insert(ty, finding);
        }
        BrokenTypes(holders)
    }

    fn find_cause(&self, ty: &str) -> Option<&'f Finding> {
        self.0.get(ty).copied()
    }
}

/// The message or enum that an element is, or is declared in.
fn find_enclosing_type(element: Element<'_>) -> Option<String> {
    match element {
        Element::Message(it) => Some(it.full_name()),
        Element::Enum(it) => Some(it.full_name()),
        Element::Field(it) => it.containing_message().map(|it| it.full_name()),
        Element::Oneof(it) => Some(it.message().full_name()),
        Element::EnumValue(it) => Some(it.parent().full_name()),
        Element::Service(_) | Element::Method(_) => None,
    }
}

/// The messages and enums that an element names, each with the part of it that does.
fn collect_types(element: Element<'_>) -> Vec<(Part, String)> {
    let of_field = |it: Field<'_>| {
        let message = it.message_type().map(|it| it.full_name());
        message.or_else(|| it.enum_type().map(|it| it.full_name()))
    };
    match element {
        Element::Field(it) if it.is_map() => {
            let value = it.message_type().and_then(|it| it.fields().nth(1));
            value.and_then(of_field).map(|ty| (Part::Type, ty)).into_iter().collect()
        }
        Element::Field(it) => of_field(it).map(|ty| (Part::Type, ty)).into_iter().collect(),
        Element::Method(it) => [(Part::Input, it.input()), (Part::Output, it.output())]
            .into_iter()
            .filter_map(|(part, ty)| Some((part, ty?.full_name())))
            .collect(),
        _ => Vec::new(),
    }
}
