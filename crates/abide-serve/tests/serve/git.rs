//! A revision of a git repository as the source of resources.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::server::{CDS, Server, cluster, node, run};

/// A repository with files in the folder `fleet`.
struct Repository(TempDir);

impl Repository {
    fn new() -> Repository {
        let repository = Repository(tempfile::tempdir().expect("a folder"));
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, args: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut command = Command::new("git");
        command.arg("-C").arg(self.path()).args(identity).args(args);
        // What the test runs under is no concern of this repository.
        command.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Writes a file and commits it. Returns the commit.
    fn commit(&self, name: &str, text: &str) -> String {
        let place = self.path().join(name);
        std::fs::create_dir_all(place.parent().expect("it has one")).expect("a folder");
        std::fs::write(place, text).expect("a file");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "a"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn serve(&self, spec: &str) -> Server {
        let source = format!("git:{}#{spec}", self.path().display());
        Server::of(&source, tempfile::tempdir().expect("a folder"), &["--poll", "0.05"])
    }
}

#[test]
fn a_branch_is_followed_and_a_bad_commit_is_refused_with_its_place() {
    run(async {
        let repository = Repository::new();
        let first = repository.commit("fleet/a.yaml", &cluster("a", 1));
        repository.commit("elsewhere/b.yaml", &cluster("b", 1));
        let server = repository.serve("main:fleet");
        let mut client = server.ads("v3", node("one", "", "")).await;
        client.ask(CDS, &[]).await;
        let response = client.next().await.expect("a response");
        assert_eq!(response.resources.len(), 1, "what is beside the folder is not served");
        client.ack(&response, &[]).await;
        let dump = server.get("/config_dump");
        assert!(!dump.contains(&first[..12]) && dump.contains("\"serving\": \"commit "), "{dump}");

        let bad = cluster("a", 2).replace("connect_timeout", "connect_timeot");
        let bad = repository.commit("fleet/a.yaml", &bad);
        let ready = server.until("/ready", |text| text.contains("a.yaml"));
        assert!(ready.starts_with("LIVE: what was served before, since the newest"), "{ready}");
        assert!(ready.contains("a.yaml:3:1: "), "it says where: {ready}");
        let dump = server.get("/config_dump");
        assert!(dump.contains(&format!("\"refused\": \"commit {}\"", &bad[..12])), "{dump}");

        // Packed references and objects are read as well.
        let good = repository.commit("fleet/a.yaml", &cluster("a", 3));
        repository.git(&["gc", "--quiet"]);
        let response = client.next().await.expect("a response");
        assert_eq!(response.resources.len(), 1);
        server.until("/ready", |text| text == "LIVE\n");
        let dump = server.get("/config_dump");
        assert!(dump.contains(&format!("\"serving\": \"commit {}\"", &good[..12])), "{dump}");
    });
}

#[test]
fn a_revision_that_is_gone_leaves_what_is_served() {
    let repository = Repository::new();
    repository.commit("node/one/a.yaml", &cluster("a", 1));
    repository.git(&["branch", "fleet"]);
    let server = repository.serve("fleet");
    assert!(server.get("/config_dump").contains("node/one"), "folders say who gets what");
    repository.git(&["branch", "--delete", "--force", "fleet"]);
    let ready = server.until("/ready", |text| text.contains("cannot be read"));
    assert!(
        ready.starts_with("LIVE: what was served before, since the source cannot be read\n"),
        "{ready}"
    );
    assert!(ready.contains("`fleet`"), "{ready}");
    assert!(server.get("/config_dump").contains("\"a\""));
    repository.git(&["branch", "fleet"]);
    server.until("/ready", |text| text == "LIVE\n");
    server.logged(|line| line.contains("can be read again"));
}

#[test]
fn links_out_of_the_folder_and_hidden_files_are_not_read() {
    let repository = Repository::new();
    repository.commit("fleet/.hidden.yaml", &cluster("hidden", 1));
    repository.commit("secret/c.yaml", &cluster("secret", 1));
    std::os::unix::fs::symlink("../secret/c.yaml", repository.path().join("fleet/c.yaml"))
        .expect("a link");
    std::os::unix::fs::symlink("within/a.yaml", repository.path().join("fleet/b.yaml"))
        .expect("a link");
    std::os::unix::fs::symlink(".", repository.path().join("fleet/again")).expect("a link");
    repository.commit("fleet/within/a.txt", "no resource");
    let loops = repository.commit("fleet/within/a.yaml", &cluster("a", 1));
    let check = |spec: &str| {
        let source = format!("git:{}#{spec}", repository.path().display());
        let output = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .args(["check", "--resources", &source, "--api"])
            .arg(crate::server::example("api"))
            .output();
        let output = output.expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = check(&format!("{loops}:fleet"));
    assert!(said.contains("note: `c.yaml` is a link out of the folder and was not read"), "{said}");
    assert!(said.contains("there is another `envoy.config.cluster.v3.Cluster` with the name `a`"));
    assert_eq!(status, Some(1), "{said}");
    for (spec, why) in [
        ("nowhere", "`nowhere`"),
        ("main:none", "`none`"),
        ("main:../..", "the folder is outside the repository"),
        ("main..main", "it is a range"),
    ] {
        let (status, said) = check(spec);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(why), "{spec}: {said}");
    }
}
