use abide_schema::{Edition, File, Part, Place};
use abide_syntax::Span;

use crate::finding::with_edition;
use crate::rule::{Check, Context, Group, Rule, Sink};

const PROTOLINT: &str = "protolint:SYNTAX_CONSISTENT";
/// api-linter wants proto3, whatever the setting says.
const API_LINTER: &str = "api-linter:core::0191::proto-version";

pub(super) static RULE: Rule = Rule {
    id: "syntax-unexpected",
    summary: "a file that is not in the `syntax` or `edition` of the other files",
    group: Group::Conventions,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[PROTOLINT, "aip:191", API_LINTER]],
    spares_work_in_progress: true,
    page: include_str!("syntax-unexpected.md"),
    check: Check::File(check),
};

fn check<'t>(context: &Context<'t>, file: File<'t>, sink: &mut Sink) {
    let decl = file.decl();
    // What the file says in an edition that is not known is not judged.
    let written = decl.edition;
    let wanted = context.policy.lint.of(file).syntax;
    let (by_setting, by_aip) = (written != wanted, written != Edition::Proto3);
    let is_asked = by_setting || by_aip && context.policy.follows(API_LINTER);
    let mut aliases = Vec::new();
    // protolint passes over editions, and files that declare nothing.
    let has_syntax = decl.syntax.is_some() && !written.is_edition();
    aliases.extend(Some(PROTOLINT).filter(|_| by_setting && has_syntax));
    if by_aip {
        aliases.extend(["aip:191", API_LINTER]);
    }
    let is_unknown = !written.is_known();
    let spared = context.is_frozen(file.package()) && !context.policy.follows_any(&aliases);
    if !is_asked || spared || is_unknown {
        return;
    }
    let wanted = if by_setting { wanted } else { Edition::Proto3 };
    let place = match decl.syntax {
        Some(syntax) => file.place_of(syntax.node, Part::Whole),
        None => Place { file: file.id, span: Span::default() },
    };
    let (written_word, word) = (written.word(), wanted.word());
    let message = format!("the file is in `{written_word}`, not in `{word}`");
    let fix = with_edition(file, wanted);
    let help = match fix {
        Some(_) => format!("run `abide edition --to {word} --write`, which changes nothing else"),
        None => "write new files in the common language; changing a released file may break it"
            .to_owned(),
    };
    sink.report(place, file.package().name(), file.path(), message)
        .why("fields of one API that are absent, closed or packed in two ways surprise its users")
        .help(help)
        .fact(written_word)
        .fix(fix)
        .aliases(&aliases);
}
