//! Reports reused numbers and names of elements that were removed at any time
//! before, as the ledger of `abide.lock` records.

use std::borrow::Cow;

use abide_change::{Effects, Surface};
use abide_schema::{Element, File, Part, Tree};
use rayon::prelude::*;

use super::bump::changes::collect_renames;
use crate::finding::{Bump, ChangeFacts, Finding, Location, Severity};
use crate::lock::{Ledger, Records, Reuse};
use crate::policy::Policy;
use crate::rules::{ENUM_NUMBER_REUSED, FIELD_NUMBER_REUSED};

/// A finding for each field, extension and enum value that reuses a number or a name of a removed
/// one, unless the comparison with the old tree already found it.
pub(crate) fn check_reuse(
    tree: &Tree,
    policy: &Policy,
    records: Records<'_>,
    known: &[Finding],
) -> Vec<Finding> {
    // A line that was deleted from the lock is still in the lock of the release.
    let [released, lock] = [records.released, records.lock].map(|lock| {
        let renames = collect_renames(known);
        lock.map(|lock| {
            renames.fold(Cow::Borrowed(lock), |mut lock, renamed| {
                lock.to_mut().carry(renamed, &policy.breaking);
                lock
            })
        })
    });
    let ledger = Ledger::of(released.as_deref(), lock.as_deref());
    if ledger.is_empty() {
        return Vec::new();
    }
    let files: Vec<File<'_>> = tree.files().filter(|it| it.is_judged()).collect();
    let found = files.par_iter().flat_map_iter(|file| {
        file.elements().filter_map(|element| {
            let (rule, number, reuse) = match element {
                Element::Field(field) => {
                    (FIELD_NUMBER_REUSED.id, field.number(), ledger.reuse_by_field(field))
                }
                Element::EnumValue(value) => {
                    (ENUM_NUMBER_REUSED.id, value.number(), ledger.reuse_by_value(value))
                }
                Element::Message(_)
                | Element::Oneof(_)
                | Element::Enum(_)
                | Element::Service(_)
                | Element::Method(_) => return None,
            };
            let finding = build_finding(rule, element, number, reuse?);
            let is_known = |it: &Finding| it.rule == rule && it.element == finding.element;
            (!known.iter().any(is_known)).then_some(finding)
        })
    });
    found.collect()
}

fn build_finding(
    rule: &'static str,
    element: Element<'_>,
    number: i32,
    reuse: Reuse<'_>,
) -> Finding {
    let (noun, name) = (element.noun(), element.name());
    let mut finding;
    let new = |part: Part, what: String, before: String| {
        let message = format!("{noun} `{name}` reuses the {before}");
        let location = Location::tree(element.place(part));
        let package = element.package().name();
        let mut finding = Finding::new(rule, location, package, element.full_name(), message);
        finding.fact(what);
        finding
    };
    let surfaces: &[Surface] = match (reuse.number_of, reuse.name_of) {
        (Some(before), None) => {
            let of = format!("number {number} of `{before}`");
            finding = new(Part::Number, format!("number {number}"), of);
            &[Surface::Wire]
        }
        (None, Some(before)) => {
            let of = format!("name `{name}` of number {before}");
            finding = new(Part::Name, format!("name `{name}`"), of);
            &[Surface::Json, Surface::Text]
        }
        (before, _) => {
            let before = before.unwrap_or_default();
            let what = format!("number {number} and its name");
            let of = format!("number {number} of `{before}` and the name of another number");
            finding = new(Part::Number, what, of);
            Surface::NOTATIONS
        }
    };
    finding.change = Some(Box::new(ChangeFacts {
        values: None,
        old: None,
        effects: Effects::backward(surfaces),
        may_break: Effects::NONE,
        bump: Bump::Major,
        symbols: Vec::new(),
        dependents: Vec::new(),
        witness: None,
        at_least: Severity::Note,
        gone: None,
        is_light: false,
        apart: false,
    }));
    let old = if reuse.number_of.is_some() { "number" } else { "name" };
    finding.why(format!(
        "`abide.lock` records a removed element with this {old}: its data is read as this {noun}"
    ));
    finding.help("choose a number and a name that were never used");
    finding
}
