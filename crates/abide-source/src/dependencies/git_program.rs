//! Brings files out of repositories, by the `git` program. It is the only part of Abide that can
//! reach a network, and git's own settings (proxies, credentials, `insteadOf`) hold.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use thiserror::Error;

use super::vendored::VendoredFile;
use crate::source::normalize_lexically;

/// The most bytes that are taken of one repository.
const MAX_BYTES: u64 = 1 << 30;

/// The reason why a repository could not be read.
#[derive(Debug, Error)]
pub enum GitError {
    /// There is no git program.
    #[error("cannot run `git`: {0}; install git, or add it to the PATH")]
    NoProgram(io::Error),
    /// The program failed.
    #[error("`git {action}` failed for `{url}`: {said}")]
    Failed {
        /// The subcommand.
        action: &'static str,
        /// The repository.
        url: String,
        /// The last line of what it printed.
        said: String,
    },
    /// The repository has no such revision.
    #[error("`{url}` has no revision `{rev}`: set `rev` to a commit, a tag or a branch of it")]
    NoRevision {
        /// The repository.
        url: String,
        /// The revision.
        rev: String,
    },
    /// The files are too large.
    #[error("`{url}` has more than 1 GiB of protos: name the folders that are needed in `paths`")]
    TooLarge {
        /// The repository.
        url: String,
    },
    /// A scratch folder cannot be used.
    #[error("cannot use a folder for temporary files: {0}")]
    Scratch(#[from] io::Error),
}

/// Files of a repository at a commit.
#[derive(Debug)]
pub struct FetchedFiles {
    /// The full id of the commit.
    pub commit: String,
    /// The files, sorted by path, with the paths that were asked for.
    pub files: Vec<VendoredFile>,
}

/// Brings files of a repository. `place` says for the path of each file, from the top, at which
/// path it is wanted. A URL without a scheme is a path from `base`.
pub fn fetch_files(
    url: &str,
    rev: &str,
    base: &Path,
    place: &dyn Fn(&str) -> Option<String>,
) -> Result<FetchedFiles, GitError> {
    let scratch = ScratchRepository::make(url, base)?;
    let commit = scratch.fetch(rev)?;
    let files = scratch.read_files(&commit, place)?;
    Ok(FetchedFiles { commit, files })
}

/// Asks a repository for the commit that a revision means now, without bringing anything.
pub fn resolve_commit(url: &str, rev: &str, base: &Path) -> Result<String, GitError> {
    if is_full_commit(rev) {
        return Ok(rev.to_ascii_lowercase());
    }
    let address = resolve_address(url, base);
    // The commit of an annotated tag stands at its name with this ending.
    let peeled = format!("{rev}^{{}}");
    let listed = run(None, "ls-remote", &["--", &address, rev, &peeled], url)?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let refs: BTreeMap<&str, &str> =
        listed.lines().filter_map(|it| it.split_once('\t')).map(|(id, name)| (name, id)).collect();
    let names = [
        format!("refs/tags/{peeled}"),
        format!("refs/tags/{rev}"),
        format!("refs/heads/{rev}"),
        rev.to_owned(),
    ];
    let found = names.iter().find_map(|it| refs.get(it.as_str()));
    match found {
        Some(commit) => Ok((*commit).to_owned()),
        // An abbreviated commit is in no list of names.
        None => ScratchRepository::make(url, base)?.fetch(rev),
    }
}

fn is_full_commit(rev: &str) -> bool {
    matches!(rev.len(), 40 | 64) && rev.bytes().all(|it| it.is_ascii_hexdigit())
}

/// The URL as git takes it: a path counts from the folder of `abide.toml`.
fn resolve_address(url: &str, base: &Path) -> String {
    let is_path = !url.contains("://") && !url.split('/').next().unwrap_or_default().contains(':');
    match is_path {
        true => normalize_lexically(&base.join(url)).to_string_lossy().into_owned(),
        false => url.to_owned(),
    }
}

/// Runs git, without questions, and without what a hook of another repository sets.
fn run(
    repository: Option<&Path>,
    action: &'static str,
    arguments: &[&str],
    url: &str,
) -> Result<Vec<u8>, GitError> {
    let mut command = prepare(repository, action, arguments);
    let output = command.stdin(Stdio::null()).output().map_err(GitError::NoProgram)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(describe_failure(action, url, &output.stderr)),
    }
}

fn prepare(repository: Option<&Path>, action: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command.args(["-c", "protocol.ext.allow=never", "-c", "gc.auto=0"]);
    if let Some(repository) = repository {
        command.arg("--git-dir").arg(repository);
    }
    command.arg(action).args(arguments);
    command
}

fn describe_failure(action: &'static str, url: &str, said: &[u8]) -> GitError {
    let said = String::from_utf8_lossy(said).into_owned();
    let first = said.lines().find(|it| it.starts_with("fatal:") || it.starts_with("error:"));
    let said = first.or_else(|| said.lines().last()).unwrap_or("it said nothing");
    let said = said.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned();
    GitError::Failed { action, url: url.to_owned(), said }
}

/// An empty repository for temporary use, which goes with this value.
struct ScratchRepository {
    folder: PathBuf,
    url: String,
    address: String,
}

impl ScratchRepository {
    fn make(url: &str, base: &Path) -> Result<ScratchRepository, GitError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("abide-git-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Whoever made a folder of this name before could put hooks into it.
        fs::create_dir(&folder)?;
        let (url, address) = (url.to_owned(), resolve_address(url, base));
        let scratch = ScratchRepository { folder, url, address };
        let path = scratch.folder.to_string_lossy().into_owned();
        run(None, "init", &["--quiet", "--bare", "--template=", &path], &scratch.url)?;
        Ok(scratch)
    }

    fn run(&self, action: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        run(Some(&self.folder), action, arguments, &self.url)
    }

    /// Brings a revision. Returns its commit.
    fn fetch(&self, rev: &str) -> Result<String, GitError> {
        let shallow = ["--quiet", "--no-tags", "--depth=1", "--", &self.address, rev];
        if self.run("fetch", &shallow).is_ok() {
            return self.find_commit("FETCH_HEAD", rev);
        }
        // A server may refuse commits that are no tips, and none knows an abbreviated one.
        let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
        self.run("fetch", &[&["--quiet", "--no-tags", "--", &self.address], &all[..]].concat())?;
        self.find_commit(rev, rev)
    }

    fn find_commit(&self, name: &str, rev: &str) -> Result<String, GitError> {
        let name = format!("{name}^{{commit}}");
        let missing = |_| GitError::NoRevision { url: self.url.clone(), rev: rev.to_owned() };
        let found = self.run("rev-parse", &["--verify", "--quiet", "--end-of-options", &name]);
        let found = found.map_err(missing)?;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    /// Reads the regular files of a commit that are wanted.
    fn read_files(
        &self,
        commit: &str,
        place: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<VendoredFile>, GitError> {
        let listed = self.run("ls-tree", &["-r", "-z", "--full-tree", commit])?;
        let mut wanted: Vec<(String, String)> = Vec::new();
        for entry in listed.split(|it| *it == 0) {
            let Ok(entry) = std::str::from_utf8(entry) else { continue };
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let [mode, "blob", id] = about.split(' ').collect::<Vec<_>>()[..] else { continue };
            if mode.starts_with("100")
                && let Some(path) = place(path)
            {
                wanted.push((id.to_owned(), path));
            }
        }
        let list = self.folder.join("wanted");
        let ids: String = wanted.iter().map(|(id, _)| format!("{id}\n")).collect();
        File::create(&list)?.write_all(ids.as_bytes())?;
        let mut child = prepare(Some(&self.folder), "cat-file", &["--batch"])
            .stdin(File::open(&list)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(GitError::NoProgram)?;
        let output = child.stdout.take().map(BufReader::new);
        let read = output.map_or(Ok(Vec::new()), |it| self.read_blobs(it, wanted));
        if read.is_err() {
            // It may wait for somebody to read the rest.
            let _ = child.kill();
        }
        child.wait()?;
        let mut files = read?;
        files.sort_unstable();
        Ok(files)
    }

    /// Reads the answers of `git cat-file --batch`: a line and then the bytes of each blob.
    fn read_blobs(
        &self,
        mut answers: impl BufRead,
        wanted: Vec<(String, String)>,
    ) -> Result<Vec<VendoredFile>, GitError> {
        let (mut files, mut total) = (Vec::with_capacity(wanted.len()), 0);
        for (_, path) in wanted {
            let mut line = String::new();
            answers.read_line(&mut line)?;
            let size = line.split_whitespace().nth(2).and_then(|it| it.parse::<u64>().ok());
            let size = size.ok_or_else(|| describe_failure("cat-file", &self.url, b""))?;
            total += size;
            if total > MAX_BYTES {
                return Err(GitError::TooLarge { url: self.url.clone() });
            }
            let mut bytes = vec![0; size as usize];
            answers.read_exact(&mut bytes)?;
            answers.read_exact(&mut [0])?;
            files.push(VendoredFile { path, bytes });
        }
        Ok(files)
    }
}

impl Drop for ScratchRepository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
