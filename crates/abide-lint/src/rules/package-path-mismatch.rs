use abide_schema::File;

use crate::finding::{Severity, package_name, shown_folder as shown};
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "package-path-mismatch",
    summary: "a file that is not in the folder of its package",
    group: Group::Layout,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:PACKAGE_DIRECTORY_MATCH", "aip:191", "api-linter:core::0191::proto-package"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("package-path-mismatch.md"),
    check: Check::File(check),
};

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let name = file.package().name();
    let folder = file.folder();
    let mut allowed = vec![folder];
    for prefix in &context.policy.packages.folder_prefixes {
        let rest = folder.strip_prefix(prefix.trim_end_matches('/'));
        allowed.extend(rest.and_then(|rest| rest.strip_prefix('/')));
    }
    let names = context.policy.packages.names_in_paths(name);
    // The name of a folder may have dots, `k8s.io/api/v1` for `k8s.io.api.v1`, except for buf.
    let is_strict = context.policy.follows_any(RULE.aliases);
    let is_allowed = allowed.iter().any(|folder| match is_strict {
        true => names.iter().any(|name| *folder == name.replace('.', "/")),
        false => names.iter().any(|name| folder.replace('/', ".") == *name),
    });
    if name.is_empty() || is_allowed {
        return;
    }
    let wanted = shown(&names[0].replace('.', "/"));
    let here = shown(folder);
    sink.report(
        package_name(file),
        name,
        file.path(),
        format!("a file of package `{name}` is in {here}, not in {wanted}"),
    )
    .why("readers of an import should see the package and its version in the path")
    .help(advise(&names, folder, &wanted))
    .fact(folder);
}

/// Advises to configure the layout if the folder and a name end alike, or else to move the file.
/// Users of a file name its path, which therefore stays in use.
fn advise(names: &[&str], folder: &str, wanted: &str) -> String {
    let dotted = folder.replace('/', ".");
    if let Some(end) = names.iter().find_map(|name| length_before(&dotted, name)) {
        let before = &folder[..end];
        return format!(
            "list `{before}` in `folder-prefix` of `[packages]`, or in `roots` of `abide.toml` if \
             imports leave it out"
        );
    }
    if let Some((name, end)) =
        names.iter().rev().find_map(|name| Some((name, length_before(name, &dotted)?)))
    {
        let left_out = &name[..end];
        return format!(
            "list `{left_out}` in `path-prefix` of `[packages]`, or move the file to {wanted}"
        );
    }
    format!(
        "move the file to {wanted}; if others import it, leave one in {} that only imports it with \
         `import public`",
        shown(folder)
    )
}

/// Returns the length of what stands before `short` and a dot at the end of `long`.
fn length_before(long: &str, short: &str) -> Option<usize> {
    let end = long.strip_suffix(short)?.strip_suffix('.')?.len();
    (!short.is_empty()).then_some(end)
}
