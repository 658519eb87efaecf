//! The small tree of these tests.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::breaking::{commit_on, git};
use crate::run::{Ran, abide, put, repository};

pub(super) const USER: &str = "envoy/user/v3/user.proto";
pub(super) const BASE: &str = "envoy/base/v3/base.proto";
pub(super) const CALM: &str = "envoy/calm/v3/calm.proto";

/// A day on which majors may rise, by the calendar of the preset `envoy`.
pub(super) const IN_WINDOW: &str = "2026-06-15";

/// The messages of `USER`.
pub(super) const PEOPLE: &str = "\
import \"envoy/base/v3/base.proto\";

option go_package = \"example.com/envoy/user/v3;userv3\";
option java_package = \"io.envoy.user.v3\";

enum Kind {
  KIND_UNSPECIFIED = 0;
  KIND_PERSON = 1;
}

message User {
  string name = 1;
  int32 age = 2;
  Kind kind = 3;
  repeated string tags = 4;
  envoy.base.v3.Id id = 5;
}

service Users {
  rpc Get(User) returns (User);
}
";

/// A file with the declarations of a package in work.
pub(super) fn file(package: &str, rest: &str) -> String {
    format!(
        "syntax = \"proto3\";\n\npackage {package};\n\nimport \
         \"abide/annotations/v1/status.proto\";\n\noption \
         (abide.annotations.v1.file_policy).package_version_status = \
         PACKAGE_VERSION_STATUS_ACTIVE;\n\n{rest}"
    )
}

/// The file that declares the option of routes, as far as it matters here.
pub(super) const HTTP: (&str, &str) = (
    "dep/google/api/annotations.proto",
    "syntax = \"proto3\";\npackage google.api;\nimport \"google/protobuf/descriptor.proto\";\nextend \
     google.protobuf.MethodOptions { HttpRule http = 72295728; }\nmessage HttpRule { oneof pattern { \
     string post = 4; } repeated HttpRule additional_bindings = 11; }\n",
);

/// A service with two routes, and a deprecated field.
pub(super) fn listeners(package: &str, routes: [&str; 2]) -> String {
    let [one, two] = routes;
    let service = format!(
        "import \"google/api/annotations.proto\";\n\nmessage Request {{\n  string old = 1 \
         [deprecated = true];\n}}\n\nservice Listeners {{\n  rpc List(Request) returns (Request) \
         {{\n    option (google.api.http) = {{\n      post: \"{one}\"\n      \
         additional_bindings {{\n        post: \"{two}\"\n      }}\n    }};\n  }}\n}}\n"
    );
    file(package, &service)
}

/// A tree with its `abide.toml`.
pub(super) struct World {
    pub(super) preset: &'static str,
    /// Where versions are recorded.
    pub(super) place: &'static str,
    folder: TempDir,
}

impl World {
    fn of(preset: &'static str, place: &'static str, more: &str, files: &[(&str, String)]) -> Self {
        let folder = TempDir::new().unwrap();
        let api = repository().join("api").display().to_string();
        let config = format!(
            "preset = \"{preset}\"\nimport-paths = [{api:?}, \"dep\"]\nversion-in = \
             \"{place}\"\n{more}"
        );
        put(folder.path(), &[("abide.toml", &config)]);
        for (path, text) in files {
            put(folder.path(), &[(path, text)]);
        }
        Self { preset, place, folder }
    }

    /// These files under each preset, with versions in each place.
    pub(super) fn each(files: &[(&str, String)], judge: impl Fn(&Self)) {
        Self::each_with("", files, judge);
    }

    /// The same with more lines in `abide.toml`.
    pub(super) fn each_with(more: &str, files: &[(&str, String)], judge: impl Fn(&Self)) {
        for preset in ["standard", "envoy"] {
            for place in ["lock", "option"] {
                judge(&Self::of(preset, place, more, files));
            }
        }
    }

    /// The tree of people, released as `r1` with its versions on record.
    pub(super) fn released(judge: impl Fn(&Self)) {
        let files = [
            (USER, file("envoy.user.v3", PEOPLE)),
            (BASE, file("envoy.base.v3", "message Id {\n  string text = 1;\n}\n")),
            (CALM, file("envoy.calm.v3", "message Calm {\n  string mood = 1;\n}\n")),
        ];
        Self::each(&files, |world| {
            world.tag("r1", &[]);
            judge(world);
        });
    }

    /// Records the versions, and makes a release of what is there.
    pub(super) fn tag(&self, name: &str, since: &[&str]) {
        self.ok(&[&["bump", "--write", "--as-of", IN_WINDOW], since].concat());
        // Before anything that the tests deprecate.
        commit_on("2020-01-01", self.path());
        git(self.path(), &["tag", name]);
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        put(self.path(), &[(path, text)]);
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    pub(super) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} holds no {from:?}: {text}");
        self.put(path, &text.replacen(from, to, 1));
    }

    pub(super) fn run(&self, args: &[&str]) -> Ran {
        abide(self.path(), args)
    }

    pub(super) fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.status, 0, "{self}: {args:?}: {} {}", ran.text(), ran.stderr);
        ran
    }

    /// The rules that make a check fail, sorted; exactly these make it exit with 1.
    pub(super) fn errors(&self, args: &[&str]) -> Vec<String> {
        self.rules("error", args)
    }

    pub(super) fn rules(&self, severity: &str, args: &[&str]) -> Vec<String> {
        let ran =
            self.run(&[&["check", "--format", "json", "--as-of", IN_WINDOW][..], args].concat());
        let findings: Vec<Value> =
            ran.json().into_iter().filter(|it| it["kind"] == "finding").collect();
        let failed = findings.iter().any(|it| it["severity"] == "error");
        assert_eq!(ran.status, i32::from(failed), "{self}: {} {}", ran.text(), ran.stderr);
        let named = findings.iter().filter(|it| it["severity"] == severity);
        let mut rules: Vec<String> =
            named.filter_map(|it| it["rule"].as_str().map(str::to_owned)).collect();
        rules.sort();
        rules
    }

    /// All that the binary says about its arguments.
    pub(super) fn help() -> String {
        fs::read_to_string(repository().join("testdata/cli/help.txt")).unwrap()
    }

    /// The line of `abide bump` about a package, as JSON.
    pub(super) fn planned(&self, package: &str, since: &str) -> Value {
        let args = ["bump", "--format", "json", "--as-of", IN_WINDOW, "--against", since];
        let lines = self.run(&args).json();
        lines.into_iter().find(|it| it["package"] == package).unwrap_or_default()
    }
}

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with versions in the {}", self.preset, self.place)
    }
}
