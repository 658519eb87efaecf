use abide_schema::{Element, HttpBinding, PackageVersion, Place};
use abide_syntax::Span;
use abide_upgrade::FileRole;

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "http-route-major-mismatch",
    summary: "an HTTP path whose major version differs from that of the package",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("http-route-major-mismatch.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Method(method) = element else { return };
    let name = element.package().name();
    let Some(version) = element.package().version() else { return };
    // A policy may keep the routes of candidates as they are.
    let kept = context.policy.upgrade.http_major.is_some()
        && context.standings().get(element.file()) == FileRole::Candidate;
    for binding in method.http_bindings() {
        for component in binding.path.split(['/', '{', '}', '=', ':']) {
            let Some(found) = PackageVersion::parse_component(component) else { continue };
            let stays = kept && found.major.checked_add(1) == Some(version.major);
            if found.major == version.major || stays {
                continue;
            }
            let message = format!(
                "HTTP path `{}` of `{}` names {component}, but the package is `{name}`",
                binding.path,
                method.relative_name(),
            );
            sink.report(
                find_component(element, &binding, component),
                name,
                method.full_name(),
                message,
            )
            .why("clients choose the major version by the path")
            .help(format!("replace `{component}` with `{}`", version.text))
            .fact(binding.path);
        }
    }
}

/// The place of a component in the path of a binding; the whole path if it is written with escapes
/// or in pieces.
fn find_component(element: Element<'_>, binding: &HttpBinding<'_>, component: &str) -> Place {
    let Place { file, span } = binding.place;
    let text = element.file().decl().source_text().unwrap_or_default();
    let start = component.as_ptr() as usize - binding.path.as_ptr() as usize;
    let inner =
        Span::new(span.start + 1 + start as u32, span.start + 1 + (start + component.len()) as u32);
    let plain =
        (span.end - span.start) as usize == binding.path.len() + 2 && inner.str(text) == component;
    Place { file, span: if plain { inner } else { span } }
}
