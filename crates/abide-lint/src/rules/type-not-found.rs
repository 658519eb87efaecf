use abide_instance::{Document, DocumentType};
use abide_schema::value::ReadErrorKind;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "type-not-found",
    summary: "an instance whose type is not known",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("type-not-found.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let Some(reading) = &document.reading else {
        let place = context.at(document.span);
        match &document.kind {
            DocumentType::Unknown(name) => {
                let all = context.tree.files().flat_map(|file| file.all_messages());
                let all: Vec<String> = all.map(|message| message.full_name()).collect();
                let text = format!("`{name}` is not a known message type");
                let finding = sink.report(place, "", name, text);
                finding.help(match find_nearest(name, all.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "give a tree that declares it with `--api`".to_owned(),
                });
            }
            DocumentType::Said(_) | DocumentType::Recognised(_) | DocumentType::Nothing => {
                sink.report(place, "", "", "the type of this document is not known").help(
                    "name it with the key `@type`, with a comment `# proto-message: NAME` before it, \
                     or, for `abide config`, with `--type`",
                );
            }
        }
        return;
    };
    let message = context.tree.message(reading.message.ty);
    let package = message.file().package().name();
    for error in reading.errors.iter().filter(|it| it.kind == ReadErrorKind::TypeNotFound) {
        sink.report(context.at(error.span), package, message.full_name(), error.message.clone())
            .help("give a tree that declares it with `--api`")
            .fact(error.message.clone());
    }
}
