//! Lets the real buf and the real protoc run Abide as their plugin, and compares what they show with
//! what `abide check` reports.

mod bazel;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output, stdout, workspace};
use serde_json::{Value, json};

/// A finding: path, line, column and rule.
type Finding = (String, u64, u64, String);
type Findings = BTreeSet<Finding>;

/// The rules that report at the name in a `package` statement: a descriptor has only the place of
/// the statement.
const AT_PACKAGE: &[&str] = &[
    "file-removed",
    "file-renamed",
    "package-path-mismatch",
    "package-removed",
    "package-status-missing",
    "package-version-malformed",
    "package-version-missing",
];

/// The rules that report inside the value of an option.
const AT_OPTION: &[&str] = &["constraint-tightened"];

/// The rule that also looks at the order of fields in the text.
const OF_TEXT: &str = "promotion-impossible";

/// Runs both tools; true if they show what Abide reports.
pub(crate) fn run(archives: &[Corpus], protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let folder = corpora::make_fresh_folder("plugins")?;
    let data = workspace()?.join("testdata/plugins");
    let trees = [("old", data.join("old")), ("new", data.join("new"))];
    for (name, from) in &trees {
        copy(from, &folder.join(name))?;
    }
    let world = World { folder: folder.clone(), abide, show };
    let mut agreed = world.buf(false, "standard")?;
    agreed &= world.protoc(protoc)?;
    agreed &= world.answers()?;
    agreed &= bazel::run(abide)?;

    let named = |name: &str| archives.iter().find(|it| it.name == name);
    let (Some(new), Some(old)) = (named("envoy-head"), named("envoy-v4alpha-2020-12")) else {
        println!("SKIPPED: plugins: no trees of Envoy");
        return Ok(agreed);
    };
    let folder = corpora::make_fresh_folder("plugins-envoy")?;
    copy(&new.root, &folder.join("new"))?;
    copy(&old.root, &folder.join("old"))?;
    copy(&new.imports[0], &folder.join("new-deps"))?;
    copy(&new.imports[0], &folder.join("old-deps"))?;
    // The same types twice: trees of 2020 import them by the short name.
    fs::remove_file(folder.join("new-deps/metrics.proto"))?;
    fs::remove_file(folder.join("old-deps/io/prometheus/client/metrics.proto"))?;
    let world = World { folder, abide, show };
    agreed &= world.buf(true, "envoy")?;
    Ok(agreed)
}

/// A folder with the trees `old` and `new`.
struct World<'a> {
    folder: std::path::PathBuf,
    abide: &'a Path,
    show: usize,
}

impl World<'_> {
    /// `buf lint` and `buf breaking`.
    fn buf(&self, has_deps: bool, preset: &str) -> Result<bool> {
        let category = format!("ABIDE_{}", preset.to_uppercase());
        let config = |tree: &str| {
            let deps = has_deps.then(|| format!("{tree}-deps"));
            let modules = [tree.to_owned()].into_iter().chain(deps.clone());
            let ignored: Vec<String> = deps.into_iter().collect();
            json!({
                "version": "v2",
                "modules": modules.map(|it| json!({"path": it})).collect::<Vec<_>>(),
                "lint": {"use": [category], "ignore": ignored},
                "breaking": {"use": [category], "ignore": ignored},
                "plugins": [{"plugin": "buf-plugin-abide", "options": {"preset": preset}}],
            })
            .to_string()
        };
        let path = self.path()?;
        let buf = |command: &str| {
            let mut buf = Command::new("buf");
            buf.arg(command).current_dir(&self.folder).env("PATH", &path);
            buf.args(["--error-format", "json", "--config", &config("new")]);
            buf
        };
        let lint = run_buf(&mut buf("lint"))?;
        let mut own = vec!["lint", "new", "--preset", preset];
        if has_deps {
            own.extend(["-I", "new-deps"]);
        }
        let mut agreed = self.compare(&format!("buf lint, {preset}"), lint, self.checked(&own)?);

        let breaking =
            run_buf(buf("breaking").args(["--against", ".", "--against-config", &config("old")]))?;
        own[0] = "breaking";
        own.extend(["--against", "old"]);
        let own = self.checked(&own)?;
        agreed &= self.compare(&format!("buf breaking, {preset}"), breaking, own);
        Ok(agreed)
    }

    /// protoc, which fails for what `abide check` reports about its files.
    fn protoc(&self, protoc: &Protoc) -> Result<bool> {
        let new = self.folder.join("new");
        let files = ["acme/shop/v1/order.proto", "acme/shop/v1/legacy.proto"];
        let run = |parameter: &str| {
            let mut command = protoc.command(&[&new]);
            command.env("PATH", self.path()?).args(files);
            command.arg("--abide_out=.").arg(format!("--abide_opt={parameter}"));
            output(command.current_dir(&self.folder))
        };
        let failed = run("against=old,preset=standard")?;
        let said = String::from_utf8_lossy(&failed.stderr).into_owned();
        let found = said.lines().filter_map(parse_line).collect();
        let mut own = self.checked(&["check", "new", "--against", "old"])?;
        own.retain(|it| files.contains(&&*it.0));
        let mut agreed = self.compare("protoc", found, own);
        agreed &= !failed.status.success();
        let reported = run("against=old,fail=never,report=report.json")?;
        let report = fs::read_to_string(self.folder.join("report.json"))?;
        agreed &= reported.status.success() && report.contains("\"rule\":\"field-removed\"");
        if !agreed {
            println!("plugins: protoc: {said}");
        }
        Ok(agreed)
    }

    /// Calls that buf's own plugin answers as well: both must answer alike.
    fn answers(&self) -> Result<bool> {
        let ours = || Command::new(self.abide.with_file_name("buf-plugin-abide"));
        let theirs = || {
            let mut buf = Command::new("buf");
            buf.args(["beta", "buf-plugin-v1"]);
            buf
        };
        let mut agreed = true;
        for args in [&["--protocol"][..], &["nonsense"], &["list-rules", "--format", "xml"]] {
            let (ours, theirs) = (output(ours().args(args))?, output(theirs().args(args))?);
            agreed &= ours.status.success() == theirs.status.success();
            agreed &= ours.stdout == theirs.stdout;
        }
        let keys = |value: &Value| match value.as_object() {
            Some(object) => object.keys().cloned().collect::<BTreeSet<_>>(),
            None => BTreeSet::new(),
        };
        let spec = |mut command: Command| -> Result<Value> {
            Ok(serde_json::from_str(&stdout(command.args(["--spec", "--format", "json"]))?)?)
        };
        let (ours_spec, theirs_spec) = (spec(ours())?, spec(theirs())?);
        let empty = Vec::new();
        let list = |spec: &Value| spec["procedures"].as_array().unwrap_or(&empty).clone();
        agreed &= list(&theirs_spec).iter().all(|it| list(&ours_spec).contains(it));
        for name in ["list-rules", "list-categories"] {
            let listed = |mut command: Command| -> Result<Value> {
                Ok(serde_json::from_str(&stdout(command.args([name, "--format", "json"]))?)?)
            };
            let (ours, theirs) = (listed(ours())?, listed(theirs())?);
            agreed &= ours["value"]["@type"] == theirs["value"]["@type"];
            let field = if name == "list-rules" { "rules" } else { "categories" };
            let all = |it: &Value| {
                let items = it["value"][field].as_array().cloned().unwrap_or_default();
                items.iter().flat_map(keys).collect::<BTreeSet<String>>()
            };
            agreed &= all(&ours).is_subset(&all(&theirs)) && !all(&ours).is_empty();
        }
        println!("plugins: answers: {}", if agreed { "as buf's own plugin" } else { "DIFFERENT" });
        Ok(agreed)
    }

    /// What `abide` reports as an error.
    fn checked(&self, args: &[&str]) -> Result<Findings> {
        let mut command = Command::new(self.abide);
        command.args(args).args(["--format", "json"]).current_dir(&self.folder);
        let said = output(&mut command)?;
        if !matches!(said.status.code(), Some(0 | 1)) {
            return Err(format!("{args:?}: {}", String::from_utf8_lossy(&said.stderr)).into());
        }
        let mut findings = Findings::new();
        for line in String::from_utf8(said.stdout)?.lines() {
            let it: Value = serde_json::from_str(line)?;
            if it["severity"] == "error" {
                let number = |key: &str| it["start"][key].as_u64().unwrap_or_default();
                let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
                let (path, rule) = (text("path"), text("rule"));
                // Of what is gone, buf shows no place.
                findings.insert(match self.folder.join("new").join(&path).exists() {
                    true => placed(path, number("line"), number("column"), &rule),
                    false => placed(String::new(), 1, 1, &rule),
                });
            }
        }
        Ok(findings)
    }

    fn compare(&self, what: &str, mut theirs: Findings, mut own: Findings) -> bool {
        theirs.retain(|it| it.3 != OF_TEXT);
        own.retain(|it| it.3 != OF_TEXT);
        let count = own.len();
        // A descriptor has the place of an option, not of what is in it.
        for it in own.difference(&theirs).cloned().collect::<Vec<_>>() {
            let (path, line, _, rule) = &it;
            let around = theirs.difference(&own).find(|other| {
                AT_OPTION.contains(&&**rule)
                    && (&other.0, &other.3) == (path, rule)
                    && (other.1..other.1 + 3).contains(line)
            });
            if let Some(around) = around.cloned() {
                theirs.remove(&around);
                own.remove(&it);
            }
        }
        let same = theirs == own && !own.is_empty();
        println!(
            "plugins: {what}: {} findings, {}",
            count,
            if same { "the same" } else { "DIFFERENT" }
        );
        for it in own.difference(&theirs).take(self.show) {
            println!("  only abide: {it:?}");
        }
        for it in theirs.difference(&own).take(self.show) {
            println!("  only the plugin: {it:?}");
        }
        same
    }

    /// The PATH with the folder of the plugins first.
    fn path(&self) -> Result<OsString> {
        let first = self.abide.parent().ok_or("`abide` lies in a folder")?.to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        Ok(std::env::join_paths([first].into_iter().chain(std::env::split_paths(&path)))?)
    }
}

/// Copies the protos of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in corpora::list_proto_files(from)? {
        corpora::write(&to.join(&file), &fs::read(from.join(&file))?)?;
    }
    Ok(())
}

/// A finding, without what a descriptor does not know of its place.
fn placed(path: String, line: u64, column: u64, rule: &str) -> Finding {
    match AT_PACKAGE.contains(&rule) {
        true => (path, line, 0, rule.to_owned()),
        false => (path, line, column, rule.to_owned()),
    }
}

/// The findings of Abide in the output of a command of buf.
fn run_buf(command: &mut Command) -> Result<Findings> {
    let said = output(command)?;
    if !matches!(said.status.code(), Some(0 | 100)) {
        return Err(format!("buf: {}", String::from_utf8_lossy(&said.stderr)).into());
    }
    let mut findings = Findings::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let it: Value = serde_json::from_str(line)?;
        let Some(rule) = it["type"].as_str().and_then(|it| it.strip_prefix("ABIDE_")) else {
            return Err(format!("a finding of another plugin: {line}").into());
        };
        let path = it["path"].as_str().unwrap_or_default();
        let path = path.strip_prefix("new/").unwrap_or(path).to_owned();
        let number = |key: &str| it[key].as_u64().unwrap_or(1);
        let rule = rule.to_lowercase().replace('_', "-");
        findings.insert(placed(path, number("start_line"), number("start_column"), &rule));
    }
    Ok(findings)
}

/// A finding in a line of protoc: `PATH:LINE:COLUMN: MESSAGE [RULE]`.
fn parse_line(line: &str) -> Option<Finding> {
    let (place, rest) = line.split_once(": ")?;
    let rule = rest.rsplit_once(" [")?.1.strip_suffix(']')?;
    let mut place = place.rsplitn(3, ':');
    let column = place.next()?.parse().ok()?;
    let line = place.next()?.parse().ok()?;
    Some(placed(place.next()?.to_owned(), line, column, rule))
}
