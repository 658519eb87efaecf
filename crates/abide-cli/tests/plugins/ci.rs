//! The action for GitHub and the job for GitLab: their scripts, run as the runners run them, on a
//! pull request that breaks something and on one that does not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{put, put_program, repository};

const USER: &str = "\
syntax = \"proto3\";

package acme.user.v1;

message User {
  string id = 1;
  string mail = 2;
}
";

/// A repository with a branch `main`, and a clone of one commit of a pull request, as runners make
/// it.
struct Forge {
    folder: TempDir,
}

impl Forge {
    /// The pull request changes the proto to this text, after `main` went on.
    fn with(text: &str) -> Forge {
        let forge = Forge { folder: tempfile::tempdir().unwrap() };
        let origin = forge.path("origin");
        std::fs::create_dir(&origin).unwrap();
        forge.git(&origin, &["init", "--quiet", "--initial-branch", "main"]);
        put(&origin, &[("acme/user/v1/user.proto", USER), ("CODEOWNERS", "* @acme/users\n")]);
        forge.commit(&origin, "one");
        forge.git(&origin, &["switch", "--quiet", "--create", "change"]);
        put(&origin, &[("acme/user/v1/user.proto", text)]);
        forge.commit(&origin, "a change");
        forge.git(&origin, &["switch", "--quiet", "main"]);
        let more = USER.replace("}\n", "  string phone = 3;\n}\n");
        put(&origin, &[("acme/user/v1/user.proto", &more)]);
        forge.commit(&origin, "main goes on");
        forge.git(&origin, &["update-ref", "refs/pull/7/merge", "refs/heads/change"]);

        let clone = forge.clone();
        std::fs::create_dir(&clone).unwrap();
        forge.git(&clone, &["init", "--quiet"]);
        let url = format!("file://{}", origin.display());
        forge.git(&clone, &["remote", "add", "origin", &url]);
        forge.git(&clone, &["fetch", "--quiet", "--depth", "1", "origin", "refs/pull/7/merge"]);
        forge.git(&clone, &["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
        forge
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn clone(&self) -> PathBuf {
        self.path("clone")
    }

    fn commit(&self, folder: &Path, message: &str) {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    fn git(&self, folder: &Path, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        git.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_CONFIG_SYSTEM", "/dev/null").env_remove("GIT_DIR");
        let ran = git.output().expect("these tests need the `git` program: install it");
        assert!(ran.status.success(), "git {args:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs a script in the clone; returns the status and what it prints.
    fn sh(&self, shell: &[&str], script: &str, env: &[(&str, &str)]) -> (i32, String) {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(script).current_dir(self.clone()).stdin(Stdio::null());
        let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap().to_owned();
        let mut path = vec![self.path("bin"), binary];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        command
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.envs(env.iter().copied());
        let ran = command.output().unwrap();
        let printed = [ran.stdout, ran.stderr].concat();
        (ran.status.code().unwrap(), String::from_utf8(printed).unwrap())
    }
}

/// A value of the contexts of a workflow.
fn expression(text: &str, contexts: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in contexts {
        text = text.replace(&format!("${{{{ {name} }}}}"), value);
    }
    assert!(!text.contains("${{"), "{text}");
    text
}

/// Whether a step runs: conditions joined by `&&`, each of them a context that is set, its negation
/// or a comparison.
fn holds(condition: &str, contexts: &[(&str, &str)]) -> bool {
    let get = |name: &str| {
        contexts.iter().find(|(it, _)| *it == name).unwrap_or_else(|| panic!("{name}")).1
    };
    condition.split("&&").map(str::trim).all(|it| match it.split_once(" == ") {
        Some((name, value)) => get(name) == value.trim_matches('\''),
        None => match it.strip_prefix('!') {
            Some(name) => get(name).is_empty(),
            None => !get(it).is_empty(),
        },
    })
}

/// A file that users take into their repositories.
fn template(name: &str) -> Value {
    let path = repository().join("crates/abide-cli/ci").join(name);
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs the action; returns the status of the job and its log.
fn action(forge: &Forge, inputs: &[(&str, &str)], is_pull_request: bool) -> (i32, String) {
    let action = template("action.yml");
    let base = if is_pull_request { "main" } else { "" };
    let mut contexts = vec![("github.base_ref".to_owned(), base.to_owned())];
    contexts.push(("github.token".to_owned(), "secret".to_owned()));
    for (name, input) in action["inputs"].as_object().unwrap() {
        let given = inputs.iter().find(|(it, _)| it == name).map(|(_, value)| *value);
        let value = given.unwrap_or_else(|| input["default"].as_str().unwrap_or("secret"));
        contexts.push((format!("inputs.{name}"), value.replace("${{ github.token }}", "secret")));
    }
    let (temp, output, summary) =
        (forge.folder.path().to_owned(), forge.path("output"), forge.path("summary"));
    let mut log = String::new();
    let mut ran = 0;
    for step in action["runs"]["steps"].as_array().unwrap() {
        let status = forge.read("output");
        let status = status.lines().find_map(|it| it.strip_prefix("status="));
        let status = status.unwrap_or_default().to_owned();
        let mut known: Vec<(&str, &str)> =
            contexts.iter().map(|(name, value)| (&**name, &**value)).collect();
        known.push(("steps.check.outputs.status", &status));
        if let Some(condition) = step["if"].as_str()
            && !holds(condition, &known)
        {
            continue;
        }
        assert_eq!(step["shell"], "bash");
        let reference = if is_pull_request { "refs/pull/7/merge" } else { "refs/heads/change" };
        let mut env = vec![
            ("GITHUB_BASE_REF", base.to_owned()),
            ("GITHUB_REF", reference.to_owned()),
            ("GITHUB_REPOSITORY", "acme/api".to_owned()),
            ("GITHUB_OUTPUT", output.display().to_string()),
            ("GITHUB_STEP_SUMMARY", summary.display().to_string()),
            ("RUNNER_TEMP", temp.display().to_string()),
        ];
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            env.push((name, expression(value.as_str().unwrap(), &known)));
        }
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, &**value)).collect();
        let script = step["run"].as_str().unwrap();
        // As the runner calls it.
        let bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];
        let (status, said) = forge.sh(&bash, script, &env);
        log.push_str(&said);
        ran += 1;
        if status != 0 {
            return (status, log);
        }
    }
    assert!(ran >= 3, "{log}");
    (0, log)
}

/// A stand-in for `gh`: it knows one comment, if there is one, and keeps what is posted.
fn put_gh(forge: &Forge, known: &str) {
    let script = format!(
        "#!/bin/sh\necho \"$@\" >>\"{0}/gh.log\"\nfor it; do case $it in body=@*) cp \"${{it#body=@}}\" \
         \"{0}/posted\" ;; esac; done\ncase \"$*\" in *--paginate*) echo '{known}' ;; esac\n",
        forge.folder.path().display()
    );
    put_program(forge.folder.path(), "bin/gh", &script);
}

#[test]
fn the_action_fails_for_what_a_pull_request_breaks() {
    let forge = Forge::with(&USER.replace("  string mail = 2;\n", ""));
    let (status, log) = action(&forge, &[("version", "path")], true);
    assert_eq!(status, 1, "{log}");
    assert!(log.contains("::error file=acme/user/v1/user.proto,line=5"), "{log}");
    // What `main` added since is not missing here.
    assert!(!log.contains("phone"), "{log}");
    let summary = forge.read("summary");
    assert!(summary.contains("### `@acme/users`") && summary.contains("User.mail"), "{summary}");
    assert_eq!(forge.read("gh.log"), "", "no comment was asked for");
    // Later steps read what the change means.
    let output = forge.read("output");
    for line in ["bump=major", "breaks=1", "errors=1", "owners=@acme/users"] {
        assert!(output.lines().any(|it| it == line), "{line}: {output}");
    }
    let outputs = template("action.yml")["outputs"].clone();
    for (name, declared) in outputs.as_object().unwrap() {
        assert_eq!(declared["value"], format!("${{{{ steps.check.outputs.{name} }}}}"));
        assert!(output.contains(&format!("\n{name}=")), "{name}: {output}");
    }
}

#[test]
fn the_action_keeps_one_comment() {
    let forge = Forge::with(&USER.replace("  string mail = 2;\n", ""));
    put_gh(&forge, "");
    let inputs = [("version", "path"), ("comment", "true")];
    assert_eq!(action(&forge, &inputs, true).0, 1);
    let log = forge.read("gh.log");
    assert!(log.contains("--method POST repos/acme/api/issues/7/comments"), "{log}");
    let posted = forge.read("posted");
    let marker = posted.lines().next().unwrap();
    assert!(log.contains(marker) && marker.starts_with("<!-- "), "{log}");
    assert!(posted.contains("`acme.user.v1.User.mail`"), "{posted}");

    let forge = Forge::with(USER);
    put_gh(&forge, "123");
    let (status, log) = action(&forge, &inputs, true);
    assert_eq!(status, 0, "{log}");
    let log = forge.read("gh.log");
    assert!(log.contains("--method PATCH repos/acme/api/issues/comments/123"), "{log}");
    assert!(forge.read("posted").starts_with(marker), "the same mark");
}

#[test]
fn the_action_says_why_it_cannot_work() {
    let forge = Forge::with(USER);
    let inputs = [("version", "path"), ("against", "git:v9")];
    let (status, log) = action(&forge, &inputs, true);
    assert!(status == 2 && log.contains("unknown revision `v9`"), "{status} {log}");
    // A push is compared with what abide.toml names: here, with nothing.
    let forge = Forge::with(&USER.replace("  string mail = 2;\n", ""));
    let inputs = [("version", "path"), ("arguments", "acme --preset google")];
    let (status, log) = action(&forge, &inputs, false);
    assert!(!log.contains("User.mail"), "{status} {log}");
}

#[test]
fn the_job_of_gitlab_fails_for_what_a_merge_request_breaks() {
    let job = template("gitlab.yml")["abide"].clone();
    let lines = |key: &str| -> Vec<String> {
        let lines = job[key].as_array().unwrap().iter();
        lines.map(|it: &Value| it.as_str().unwrap().to_owned()).collect()
    };
    for (text, expected) in [(USER, 0), (&*USER.replace("  string mail = 2;\n", ""), 1)] {
        let forge = Forge::with(text);
        // GIT_DEPTH is 0: the runner clones everything.
        assert_eq!(job["variables"]["GIT_DEPTH"], "0");
        forge.git(&forge.clone(), &["fetch", "--quiet", "--unshallow", "origin", "main", "change"]);
        let base = forge.git(&forge.clone(), &["merge-base", "HEAD", "FETCH_HEAD"]);
        let env = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", &*base), ("ABIDE_ARGUMENTS", "")];
        // The runner joins the lines to one script.
        let script = format!("set -eo pipefail\n{}", lines("script").join("\n"));
        let (status, log) = forge.sh(&["bash", "-c"], &script, &env);
        assert_eq!(status, expected, "{log}");
        let report = job["artifacts"]["reports"]["codequality"].as_str().unwrap();
        let report = std::fs::read(forge.clone().join(report)).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let findings = report.as_array().unwrap().iter();
        let errors = findings.filter(|it| it["severity"] == "major").count();
        assert_eq!(errors, expected as usize, "{report}");
        assert_eq!(log.contains("error[field-removed]"), expected == 1, "{log}");
    }
    assert!(lines("before_script")[0].contains("pip install"));
}

/// The version that both install is that of this release.
#[test]
fn both_install_this_release() {
    for file in ["action.yml", "gitlab.yml"] {
        let text = std::fs::read_to_string(repository().join("crates/abide-cli/ci").join(file));
        let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.unwrap().contains(&version), "{file}");
    }
}
