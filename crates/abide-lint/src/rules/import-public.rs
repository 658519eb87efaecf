use abide_schema::{File, Part};
use abide_syntax::ImportKind;

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "import-public",
    summary: "a public import",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &["buf:IMPORT_NO_PUBLIC"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("import-public.md"),
    check: Check::File(check),
};

fn check<'t>(_: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    for import in file.imports().filter(|it| it.decl.kind == ImportKind::Public) {
        let path = &*import.decl.path;
        let place = file.place_of(import.decl.node, Part::Whole);
        let message = format!("`{path}` is imported publicly");
        sink.report(place, file.package().name(), file.path(), message)
            .why("files that import this one depend on the other file without naming it")
            .help("import the file where its types are used")
            .fact(path);
    }
}
