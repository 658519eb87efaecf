//! What people do to protos.

use super::dice::Dice;
use super::lock::list_frozen;
use super::repository::Repository;
use super::start::write_file;
use super::text::{
    Statement, add_import, find_package, find_stable_major, list_messages, list_statements,
    replace_line,
};

const LIFECYCLE: &str = "abide/annotations/v1/lifecycle.proto";
const STATUS: &str = "abide/annotations/v1/status.proto";

/// A file of an active stable package.
#[derive(Clone, Debug)]
pub(super) struct ActiveFile {
    /// Its path below the repository.
    pub(super) path: String,
    pub(super) package: String,
    pub(super) text: String,
}

impl Repository {
    /// The files of the newest stable version of each API, as far as they are not frozen.
    pub(super) fn active_files(&self) -> Vec<ActiveFile> {
        let frozen = list_frozen(&self.read("abide.lock"));
        let mut found: Vec<(String, u32, ActiveFile)> = Vec::new();
        for (path, text) in self.protos() {
            let Some(package) = find_package(&text).map(str::to_owned) else { continue };
            let Some((api, major)) = find_stable_major(&package) else { continue };
            if text.contains("= FROZEN")
                || text.contains("STATUS_FROZEN")
                || frozen.contains(&package)
            {
                continue;
            }
            found.push((api.to_owned(), major, ActiveFile { path, package, text }));
        }
        let newest = |api: &str| found.iter().filter(|it| it.0 == api).map(|it| it.1).max();
        let active = found.iter().filter(|it| newest(&it.0) == Some(it.1));
        active.map(|it| it.2.clone()).collect()
    }
}

/// Something that people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    AddField,
    AddMessage,
    Deprecate,
    DeprecateByCommand,
    DeprecateMessage,
    TakeBack,
    Rename,
    UseOther,
    Experiment,
    ChangeAlpha,
    Move,
}

/// What people do, most of it more than once.
pub(super) const ACTS: [Act; 15] = [
    Act::AddField,
    Act::AddField,
    Act::AddMessage,
    Act::Deprecate,
    Act::Deprecate,
    Act::Deprecate,
    Act::DeprecateByCommand,
    Act::DeprecateMessage,
    Act::TakeBack,
    Act::Rename,
    Act::UseOther,
    Act::Experiment,
    Act::ChangeAlpha,
    Act::ChangeAlpha,
    Act::Move,
];

impl Repository {
    /// Does something to a file. Returns the package that changed.
    pub(super) fn act(&mut self, act: Act, number: u32, dice: &mut Dice) -> Option<String> {
        let files = self.active_files();
        let file = dice.pick(&files)?.clone();
        let before = file.text.clone();
        let text = match act {
            Act::AddField => add_field(&file, number, dice)?,
            Act::AddMessage => format!("{before}\nmessage New{number} {{\n  string id = 1;\n}}\n"),
            Act::Deprecate => deprecate(&file, dice)?,
            Act::DeprecateByCommand => return self.deprecate_by_command(&file, dice),
            Act::DeprecateMessage => {
                let mut messages = list_messages(&before);
                messages.retain(|(line, _)| !is_deprecated(&before, *line));
                let (line, _) = dice.pick(&messages)?;
                replace_line(&before, *line, |it| format!("{it}\n  option deprecated = true;"))
            }
            Act::TakeBack => before
                .replace(" [deprecated = true]", "")
                .replace("  option deprecated = true;\n", ""),
            Act::Rename => rename(&file, number, dice)?,
            // It could go around in a real tree.
            Act::UseOther if self.is_real => return None,
            Act::UseOther => use_other(&file, &files, number, dice)?,
            Act::Experiment => return self.experiment(&file, dice),
            Act::ChangeAlpha => return self.change_alpha(number, dice),
            Act::Move => return self.move_package(&file, &files, number),
        };
        if text == before {
            return None;
        }
        self.tell(format!("{}: {act:?} {number}", file.path));
        self.write(&file.path, &text);
        Some(file.package)
    }

    /// An alpha uses a candidate.
    fn experiment(&mut self, file: &ActiveFile, dice: &mut Dice) -> Option<String> {
        let (api, major) = find_stable_major(&file.package)?;
        let name = file.path.rsplit('/').next()?;
        let candidate = format!("{api}.v{}alpha", major + 1);
        let path = format!("{}/{name}", candidate.replace('.', "/"));
        let text = self.read(&format!("proto/{path}"));
        let messages = list_messages(&text);
        let (_, message) = dice.pick(&messages)?;
        let owner = api.split('.').next()?;
        let alpha = format!("{owner}.lab.v{major}alpha2");
        self.tell(format!("{alpha} uses {candidate}.{message}"));
        let body = format!("message Lab {{\n  {candidate}.{message} it = 1;\n}}\n");
        let text = write_file(&alpha, owner == "envoy", Some(&(path, String::new())), &body);
        self.write(&format!("proto/{}/lab.proto", alpha.replace('.', "/")), &text);
        Some(alpha)
    }

    /// An alpha that a person writes changes in ways that nothing stable may.
    fn change_alpha(&mut self, number: u32, dice: &mut Dice) -> Option<String> {
        let alphas: Vec<(String, String)> =
            self.protos().into_iter().filter(|(path, _)| path.ends_with("/lab.proto")).collect();
        let (path, text) = dice.pick(&alphas)?;
        let package = find_package(text)?.to_owned();
        if text.contains("STATUS_FROZEN")
            || list_frozen(&self.read("abide.lock")).contains(&package)
        {
            return None;
        }
        let statements = list_statements(text);
        let changed = match dice.pick(&statements) {
            Some(chosen) if dice.once_in(2) => replace_line(text, chosen.line, |_| String::new()),
            _ => format!("{text}\nmessage Trial{number} {{\n  int32 size = 1;\n}}\n"),
        };
        self.tell(format!("{path}: ChangeAlpha {number}"));
        self.write(path, &changed);
        Some(package)
    }

    /// A package goes on under another name, all of its files.
    fn move_package(
        &mut self,
        file: &ActiveFile,
        files: &[ActiveFile],
        number: u32,
    ) -> Option<String> {
        // An active package may change its status, and a file has one target.
        if self.is_real || file.text.contains("move_to_package") {
            return None;
        }
        let (api, major) = find_stable_major(&file.package)?;
        // Between its neighbours in the alphabet: `use_other` makes no cycle.
        let target = format!("{api}_moved{number}.v{major}");
        self.tell(format!("{} moves to {target}", file.package));
        for file in files.iter().filter(|it| it.package == file.package) {
            self.write(&file.path, &say_target(&file.text, &target));
        }
        Some(file.package.clone())
    }

    /// `abide deprecate` makes no new error, and does nothing twice.
    fn deprecate_by_command(&mut self, file: &ActiveFile, dice: &mut Dice) -> Option<String> {
        let statements: Vec<Statement> =
            list_statements(&file.text).into_iter().filter(|it| it.is_plain).collect();
        let element = format!("{}.{}", file.package, dice.pick(&statements)?.name);
        let args = ["deprecate", &element, "--dropped", "nobody needs it", "--write"];
        self.tell(format!("{}: {args:?}", file.path));
        let before = self.protos();
        let ran = self.try_abide(&args);
        let after = self.protos();
        self.law(
            (ran.status == 0) == (before != after),
            "a deprecation is written or refused",
            || ran.said(),
        );
        (ran.status == 0).then(|| file.package.clone())
    }
}

/// A text whose file moves to a package: with an option of its own, or in the one that records its
/// version.
fn say_target(text: &str, target: &str) -> String {
    let policy = "option (abide.annotations.v1.file_policy)";
    let recorded = format!("\n{policy} = {{\n");
    if text.contains(&recorded) {
        return text.replacen(
            &recorded,
            &format!("{recorded}  move_to_package: \"{target}\"\n"),
            1,
        );
    }
    let option = format!("{policy}.move_to_package = \"{target}\";");
    add_import(text, STATUS).replacen("\nimport ", &format!("\n{option}\nimport "), 1)
}

/// Returns true if the message that begins at a line is deprecated.
fn is_deprecated(text: &str, line: usize) -> bool {
    let body = text.lines().skip(line).take_while(|it| !it.starts_with('}'));
    body.into_iter().any(|it| it.starts_with("  option deprecated"))
}

fn add_field(file: &ActiveFile, number: u32, dice: &mut Dice) -> Option<String> {
    let messages = list_messages(&file.text);
    let (line, _) = dice.pick(&messages)?;
    let field = format!("  bool added_{number} = {};", 15_000 + number);
    Some(replace_line(&file.text, *line, |it| format!("{it}\n{field}")))
}

fn deprecate(file: &ActiveFile, dice: &mut Dice) -> Option<String> {
    let statements: Vec<Statement> =
        list_statements(&file.text).into_iter().filter(|it| it.is_plain).collect();
    let chosen = dice.pick(&statements)?;
    Some(replace_line(&file.text, chosen.line, |it| it.replacen(';', " [deprecated = true];", 1)))
}

fn rename(file: &ActiveFile, number: u32, dice: &mut Dice) -> Option<String> {
    let statements: Vec<Statement> =
        list_statements(&file.text).into_iter().filter(|it| it.is_plain).collect();
    let chosen = dice.pick(&statements)?;
    let (kind, name) = match chosen.is_value {
        true => ("enum_value", format!("RENAMED_{number}")),
        false => ("field", format!("renamed_{number}")),
    };
    let option = format!(" [(abide.annotations.v1.{kind}_policy).migration.rename = \"{name}\"];");
    let text = replace_line(&file.text, chosen.line, |it| it.replacen(';', &option, 1));
    Some(add_import(&text, LIFECYCLE))
}

/// A field gets a type of a package that comes before in the alphabet, so that none goes around.
fn use_other(
    file: &ActiveFile,
    files: &[ActiveFile],
    number: u32,
    dice: &mut Dice,
) -> Option<String> {
    let earlier: Vec<&ActiveFile> = files.iter().filter(|it| it.package < file.package).collect();
    let other = dice.pick(&earlier)?;
    let theirs = list_messages(&other.text);
    let (_, theirs) = dice.pick(&theirs)?;
    let messages = list_messages(&file.text);
    let (line, _) = dice.pick(&messages)?;
    let field = format!("  .{}.{theirs} other_{number} = {};", other.package, 15_000 + number);
    let text = replace_line(&file.text, *line, |it| format!("{it}\n{field}"));
    Some(add_import(&text, other.path.strip_prefix("proto/")?))
}
