use abide_schema::File;

use crate::finding::Severity;
use crate::places::package_name;
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
    let wanted = name.replace('.', "/");
    // The name of a folder may have dots, `k8s.io/api/v1` for `k8s.io.api.v1`, except for buf.
    let matches = |folder: &&str| match context.policy.follows_any(RULE.aliases) {
        true => *folder == wanted,
        false => folder.replace('/', ".") == name,
    };
    if name.is_empty() || allowed.iter().any(matches) {
        return;
    }
    let shown = if folder.is_empty() { "the root".to_owned() } else { format!("`{folder}`") };
    sink.report(
        package_name(file),
        name,
        file.path(),
        format!("a file of package `{name}` is in {shown}, not in `{wanted}`"),
    )
    .why("readers of an import should see the package and its version in the path")
    .help(format!(
        "move the file to `{wanted}`, or list the folder that imports start from in `roots` of \
         `abide.toml`"
    ))
    .fact(folder);
}
