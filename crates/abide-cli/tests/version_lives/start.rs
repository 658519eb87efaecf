//! The trees that lives begin with: generated ones, and parts of real ones.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::dice::Dice;

/// A tree to begin with.
pub struct Start {
    /// The text of `abide.toml` without the roots and import paths.
    pub(super) config: String,
    /// The files, relative to the root of the tree.
    pub(super) files: Vec<(String, String)>,
    /// More folders of imports.
    pub(super) imports: Vec<PathBuf>,
    /// The name of the tree in reports.
    pub(super) name: String,
    /// True if the tree has no errors of its own.
    pub(super) is_clean: bool,
}

/// A part of a real tree.
pub struct RealTree<'a> {
    /// Its name.
    pub name: &'a str,
    /// The preset that fits it.
    pub preset: &'a str,
    /// The files, relative to `root`: those that are judged.
    pub files: &'a [String],
    /// The folder of the tree.
    pub root: &'a Path,
    /// Folders of imports.
    pub imports: &'a [PathBuf],
}

/// Rules about what people should say, which random edits do not.
const RULES: &str = "conversion-missing = \"off\"\ndeprecation-without-replacement = \"off\"\n";

impl Start {
    /// A part of a real tree.
    pub fn real(tree: &RealTree<'_>) -> Start {
        let read = |path: &String| Some((path.clone(), read_text(&tree.root.join(path))?));
        Start {
            config: format!("preset = \"{}\"\n[rules]\n{RULES}", tree.preset),
            files: tree.files.iter().filter_map(read).collect(),
            imports: tree.imports.to_vec(),
            name: format!("{}: {}", tree.name, tree.files.first().map_or("", String::as_str)),
            is_clean: false,
        }
    }

    /// A generated tree: packages that use each other, with an alpha, and a package without a
    /// version beside them.
    pub(super) fn generated(dice: &mut Dice) -> Start {
        let preset = ["standard", "standard", "google", "envoy"][dice.roll(4)];
        let (owner, major) = if preset == "envoy" { ("envoy", 3) } else { ("acme", 1) };
        let has_status = preset == "envoy" || dice.once_in(3);
        let version_in = if dice.once_in(3) { "option" } else { "lock" };
        let mut files: Vec<(String, String)> = Vec::new();
        let mut earlier: Vec<(String, String)> = Vec::new();
        for number in 0..2 + dice.roll(3) {
            let api = ["a", "b", "c", "d"][number];
            let package = format!("{owner}.{api}.v{major}");
            let folder = package.replace('.', "/");
            for part in 0..1 + dice.roll(2) {
                let path = format!("{folder}/{api}{part}.proto");
                let used = dice.pick(&earlier).cloned().filter(|_| !dice.once_in(3));
                let body = write_body(dice, part, used.as_ref());
                files.push((path.clone(), write_file(&package, has_status, used.as_ref(), &body)));
                earlier.push((path, format!("{package}.T{part}")));
            }
        }
        let used = dice.pick(&earlier).cloned();
        let alpha = format!("{owner}.lab.v{major}alpha");
        let text = write_file(&alpha, has_status, used.as_ref(), &write_user("Lab", used.as_ref()));
        files.push((format!("{}/lab.proto", alpha.replace('.', "/")), text));
        let mut unversioned = String::new();
        if preset != "envoy" {
            let used = dice.pick(&earlier).cloned();
            let text =
                write_file("acme.type", false, used.as_ref(), &write_user("Card", used.as_ref()));
            files.push(("acme/type/type.proto".to_owned(), text));
            unversioned = "[packages]\nunversioned = [\"acme.type\"]\n".to_owned();
        }
        Start {
            config: format!(
                "preset = \"{preset}\"\nversion-in = \"{version_in}\"\n[rules]\n{RULES}{unversioned}"
            ),
            files,
            imports: Vec::new(),
            name: format!("generated, preset {preset}, versions in {version_in}"),
            is_clean: true,
        }
    }
}

fn read_text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// A file of a package, which may have a status and use a type of another file.
pub(super) fn write_file(
    package: &str,
    has_status: bool,
    used: Option<&(String, String)>,
    body: &str,
) -> String {
    let mut text = format!("syntax = \"proto3\";\n\npackage {package};\n\n");
    if has_status {
        text.push_str("import \"abide/annotations/v1/status.proto\";\n");
    }
    if let Some((path, _)) = used {
        let _ = writeln!(text, "import \"{path}\";");
    }
    if has_status {
        text.push_str(
            "\noption (abide.annotations.v1.file_policy).package_version_status = \
             PACKAGE_VERSION_STATUS_ACTIVE;\n",
        );
    }
    text + "\n" + body
}

/// A message that uses a type of another package.
fn write_user(name: &str, used: Option<&(String, String)>) -> String {
    let field = used.map(|(_, it)| format!("  {it} used = 1;\n")).unwrap_or_default();
    format!("message {name} {{\n{field}  string id = 2;\n}}\n")
}

/// Messages, an enum and a service, a statement on each line.
fn write_body(dice: &mut Dice, part: usize, used: Option<&(String, String)>) -> String {
    let mut text = format!("// The thing.\nmessage T{part} {{\n");
    if let Some((_, name)) = used {
        let label = ["", "repeated "][dice.roll(2)];
        let _ = writeln!(text, "  {label}{name} used = 1;");
    }
    text.push_str("  string id = 2;\n");
    if dice.once_in(2) {
        text.push_str(
            "  message Inner {\n    bool on = 1;\n    int64 size = 2;\n  }\n  Inner inner = 3;\n",
        );
    }
    if dice.once_in(2) {
        text.push_str("  oneof kind {\n    string left = 4;\n    bytes right = 5;\n  }\n");
    }
    if dice.once_in(2) {
        text.push_str("  map<string, int32> sizes = 6;\n");
    }
    let _ = writeln!(text, "  State{part} state = 7;\n}}\n");
    let _ = writeln!(text, "enum State{part} {{\n  STATE{part}_UNSPECIFIED = 0;");
    let _ = writeln!(text, "  STATE{part}_ON = 1;\n  STATE{part}_OFF = 2;\n}}");
    if dice.once_in(2) {
        let _ = writeln!(text, "\nmessage Ask{part} {{\n  string name = 1;\n}}\n");
        let _ =
            writeln!(text, "service Service{part} {{\n  rpc Get(Ask{part}) returns (T{part});\n}}");
    }
    text
}
