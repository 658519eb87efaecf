//! Undoes a change of several files that ends in the middle.
//!
//! Before the first file changes, the folder gets [`FOLDER`] with what the files hold now and a
//! list of what becomes of them. The list is the last to come and the first to go: while it is
//! there, the change counts as not made. A run that fails or is ended by a signal undoes its own
//! change; that of a killed one is undone by the next writer.
//!
//! What files hold is kept as further names of them, which costs no space: to undo a change, they
//! are renamed back, which works on a full disk.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, OpenOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::attributes;
use super::folder::WriteStep;
use super::leftovers::{self, Leftover};
use super::stop::stop_before;
use super::temp_files;

/// The path of the journal of a folder.
pub(super) const FOLDER: &str = ".abide-journal";
const LIST: &str = "list";
const UNFINISHED_LIST: &str = "list.new";
/// A file that nobody touches after it was made. See [`Mark`].
const MARK: &str = "mark";

/// The content of the list.
#[derive(Serialize, Deserialize)]
struct JournalList {
    mark: JournalMark,
    /// The folders that the change makes, the outermost first.
    folders: Vec<PathBuf>,
    files: Vec<JournalEntry>,
}

/// The change of a file, by the digests of its content; nothing where it does not exist.
#[derive(Serialize, Deserialize)]
struct JournalEntry {
    path: PathBuf,
    old: Option<String>,
    new: Option<String>,
    /// True if it is written in place, so that a killed run may leave a part of it.
    in_place: bool,
}

/// The mark that tells a journal that a run made here from one that came with a tree: nobody who
/// only chooses what files hold can choose when and as what the system makes them.
#[derive(PartialEq, Serialize, Deserialize)]
struct JournalMark {
    file: u64,
    made: (i64, i64),
}

impl JournalMark {
    #[cfg(unix)]
    fn of(file: &Metadata) -> io::Result<JournalMark> {
        use cap_std::fs::MetadataExt;
        Ok(JournalMark { file: file.ino(), made: (file.ctime(), file.ctime_nsec()) })
    }

    #[cfg(not(unix))]
    fn of(file: &Metadata) -> io::Result<JournalMark> {
        let made = file.created()?.into_std().duration_since(std::time::UNIX_EPOCH);
        let made = made.map_err(io::Error::other)?;
        Ok(JournalMark { file: 0, made: (made.as_secs() as i64, i64::from(made.subsec_nanos())) })
    }
}

/// A change that is going on. It is undone unless it is [closed](Journal::close).
pub(super) struct Journal {
    open: Option<Arc<OpenJournal>>,
}

struct OpenJournal {
    dir: Arc<Dir>,
    /// Held as long as the run lives.
    _lock: Option<std::fs::File>,
}

impl Leftover for OpenJournal {
    fn clear(&self) {
        // What fails now, the next writer does.
        let _ = undo(&self.dir);
    }
}

impl Journal {
    /// Writes down what the steps will change. They were compared with the files already.
    pub(super) fn begin(dir: &Arc<Dir>, steps: &[WriteStep<'_>]) -> io::Result<Journal> {
        stop_before("a journal is made");
        let journal = Journal::make(dir)?;
        // A signal finds a journal that is complete, or one that nobody is at work on.
        {
            let _all = leftovers::lock_leftovers();
            prepare(dir, steps)?;
        }
        stop_before("a journal is complete");
        {
            let _all = leftovers::lock_leftovers();
            dir.rename(journal_path(UNFINISHED_LIST), dir, journal_path(LIST))?;
        }
        Ok(journal)
    }

    fn make(dir: &Arc<Dir>) -> io::Result<Journal> {
        let mut is_clear = false;
        loop {
            let mut all = leftovers::signal_safe();
            match dir.create_dir(FOLDER) {
                Ok(()) => {
                    let lock = dir.open(FOLDER).map(cap_std::fs::File::into_std).ok();
                    if !lock.as_ref().is_none_or(|it| it.lock().is_err() || is_at(dir, it)) {
                        // Another run took it for abandoned before it was locked.
                        continue;
                    }
                    let open = Arc::new(OpenJournal { dir: Arc::clone(dir), _lock: lock });
                    all.push(Arc::clone(&open) as Arc<dyn Leftover>);
                    return Ok(Journal { open: Some(open) });
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) if is_clear => {
                    return Err(io::Error::other(format!(
                        "`{FOLDER}` is in the way, and no run in this folder made it: look at \
                         what is in it, and remove it"
                    )));
                }
                Err(_) => {
                    drop(all);
                    recover(dir)?;
                    is_clear = true;
                }
            }
        }
    }

    /// The change is made as a whole: forgets how to undo it.
    pub(super) fn close(mut self) -> io::Result<()> {
        stop_before("a journal goes");
        let mut all = leftovers::lock_leftovers();
        match self.open.take() {
            Some(open) => {
                leftovers::remove_leftover(&mut all, &(Arc::clone(&open) as Arc<dyn Leftover>));
                remove(&open.dir)
            }
            None => Ok(()),
        }
    }

    /// Undoes the change. Returns the files that somebody edited since, which stay as they are.
    pub(super) fn undo(mut self) -> io::Result<Vec<PathBuf>> {
        let mut all = leftovers::lock_leftovers();
        match self.open.take() {
            Some(open) => {
                leftovers::remove_leftover(&mut all, &(Arc::clone(&open) as Arc<dyn Leftover>));
                undo(&open.dir)
            }
            None => Ok(Vec::new()),
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            let mut all = leftovers::lock_leftovers();
            leftovers::remove_leftover(&mut all, &(Arc::clone(&open) as Arc<dyn Leftover>));
            open.clear();
        }
    }
}

/// Writes all that the journal holds, with the list under another name.
fn prepare(dir: &Dir, steps: &[WriteStep<'_>]) -> io::Result<()> {
    dir.write(journal_path(MARK), b"")?;
    let mark = JournalMark::of(&dir.metadata(journal_path(MARK))?)?;
    let mut list =
        JournalList { mark, folders: list_missing_folders(dir, steps), files: Vec::new() };
    for (number, step) in steps.iter().enumerate() {
        if let Some(old) = step.old {
            let kept = old_path(number);
            let linked = match step.in_place {
                true => Err(io::ErrorKind::Unsupported.into()),
                false => dir.hard_link(&step.path, dir, &kept),
            };
            // Some file systems have no further names, and a folder may be of another one.
            linked.or_else(|_: io::Error| write_like(dir, &step.path, &kept, old))?;
        }
        if let Some(new) = step.new.filter(|_| step.in_place) {
            write_like(dir, &step.path, &new_of(number), new)?;
        }
        list.files.push(JournalEntry {
            path: step.path.clone(),
            old: step.old.map(compute_digest),
            new: step.new.map(compute_digest),
            in_place: step.in_place,
        });
    }
    dir.write(journal_path(UNFINISHED_LIST), serde_json::to_vec_pretty(&list)?)
}

/// Undoes the change that a dead run left in the middle, and waits for a living one. Returns the
/// files that somebody edited since, which stay as they are; nothing if there was no such change.
pub(super) fn recover(dir: &Dir) -> io::Result<Option<Vec<PathBuf>>> {
    loop {
        if !dir.symlink_metadata(FOLDER).is_ok_and(|it| it.is_dir() && is_of_us(dir, &it)) {
            return Ok(None);
        }
        let lock = dir.open(FOLDER).map(cap_std::fs::File::into_std).ok();
        if lock.as_ref().is_none_or(|it| it.lock().is_err() || is_at(dir, it)) {
            return match read_list(dir)? {
                None => remove(dir).map(|()| None),
                Some(list) if is_from_here(dir, &list) => undo(dir).map(Some),
                Some(_) => Ok(None),
            };
        }
    }
}

/// Returns true if a change of a folder is going on, or was left in the middle.
pub(super) fn is_in(folder: &Path) -> bool {
    folder.join(FOLDER).join(LIST).is_file()
}

/// Returns true if this run may act on a journal: it is this user's, or of the user whose folder
/// this is.
fn is_of_us(dir: &Dir, journal: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        let owner = journal.uid();
        owner == rustix::process::geteuid().as_raw()
            || dir.dir_metadata().is_ok_and(|it| it.uid() == owner)
    }
    #[cfg(not(unix))]
    {
        let _ = (dir, journal);
        true
    }
}

/// Returns true if the journal was made in this place, and did not come with a tree.
fn is_from_here(dir: &Dir, list: &JournalList) -> bool {
    let mark = dir.symlink_metadata(journal_path(MARK)).and_then(|it| JournalMark::of(&it));
    mark.is_ok_and(|it| it == list.mark)
}

/// Returns true if an open folder is still the one of its name.
fn is_at(dir: &Dir, open: &std::fs::File) -> bool {
    #[cfg(unix)]
    {
        let number = open.metadata().map(|it| std::os::unix::fs::MetadataExt::ino(&it));
        let there = dir.symlink_metadata(FOLDER).map(|it| cap_std::fs::MetadataExt::ino(&it));
        number.is_ok_and(|number| there.is_ok_and(|there| there == number))
    }
    #[cfg(not(unix))]
    {
        let _ = open;
        dir.is_dir(FOLDER)
    }
}

fn read_list(dir: &Dir) -> io::Result<Option<JournalList>> {
    match dir.read(journal_path(LIST)) {
        Ok(text) => Ok(serde_json::from_slice(&text).map(Some)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts back what the list names, from its end, and removes the journal. It may be ended anywhere
/// and called again. It asks for no lock of this process, which a signal may have caught.
fn undo(dir: &Dir) -> io::Result<Vec<PathBuf>> {
    let Some(list) = read_list(dir)? else { return remove(dir).map(|()| Vec::new()) };
    let mut edited = Vec::new();
    let mut trouble = None;
    for (number, entry) in list.files.iter().enumerate().rev() {
        match entry.undo(dir, number) {
            Ok(true) => {}
            Ok(false) => edited.push(entry.path.clone()),
            Err(error) => trouble = Some(error),
        }
    }
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    for folder in list.folders.iter().rev() {
        temp_files::remove_abandoned(dir, folder);
        // Stays if somebody put something into it.
        let _ = dir.remove_dir(folder);
    }
    remove(dir)?;
    edited.reverse();
    Ok(edited)
}

impl JournalEntry {
    /// Gives the file its old content. False if somebody edited it since.
    fn undo(&self, dir: &Dir, number: usize) -> io::Result<bool> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        temp_files::remove_abandoned(dir, folder);
        let now = match dir.read(&self.path) {
            Ok(now) => Some(now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Whatever is there, it is not of this change.
            Err(_) => return Ok(false),
        };
        let found = now.as_deref().map(compute_digest);
        if found == self.old {
            return Ok(true);
        }
        let (old, new) = (old_path(number), new_of(number));
        let is_part = |it: &[u8]| {
            let whole = [&old, &new].map(|it| dir.read(it).unwrap_or_default());
            whole.iter().any(|whole| whole.starts_with(it))
        };
        if found != self.new && !(self.in_place && now.as_deref().is_some_and(is_part)) {
            return Ok(false);
        }
        if self.old.is_none() {
            return dir.remove_file(&self.path).map(|()| true);
        }
        if self.in_place {
            write_in_place(dir, &self.path, &dir.read(&old)?)?;
            return Ok(true);
        }
        dir.create_dir_all(folder)?;
        if dir.rename(&old, dir, &self.path).is_err() {
            // The folder is of another file system.
            let beside = folder.join(temp_files::build_temp_name(&format!("undo-{number}")));
            write_like(dir, &old, &beside, &dir.read(&old)?)?;
            dir.rename(&beside, dir, &self.path)?;
        }
        Ok(true)
    }
}

/// Writes into the file itself, so that its other names show it, too. A run that is killed here
/// leaves the beginning of `text`.
pub(super) fn write_in_place(dir: &Dir, path: &Path, text: &[u8]) -> io::Result<()> {
    dir.open_with(path, OpenOptions::new().write(true).truncate(true))?.write_all(text)
}

/// Writes a new file that only those may read who may read `like`.
fn write_like(dir: &Dir, like: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let like = dir.open(like)?.into_std();
    let mut file =
        dir.open_with(path, OpenOptions::new().write(true).create(true).truncate(true))?;
    attributes::take_over(&like, &file.try_clone()?.into_std())?;
    file.write_all(text)
}

/// Removes the journal, its list first. What no run puts there stays.
fn remove(dir: &Dir) -> io::Result<()> {
    if let Err(error) = dir.remove_file(journal_path(LIST))
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let entries = dir.read_dir(FOLDER)?.flatten().map(|it| it.file_name());
    let is_made = |name: &str| {
        let number = name.strip_suffix(".old").or(name.strip_suffix(".new"));
        name == MARK
            || name == UNFINISHED_LIST
            || number.is_some_and(|it| it.parse::<usize>().is_ok())
    };
    for name in entries.filter(|it| it.to_str().is_some_and(is_made)) {
        dir.remove_file(Path::new(FOLDER).join(name))?;
    }
    let _ = dir.remove_dir(FOLDER);
    Ok(())
}

fn list_missing_folders(dir: &Dir, steps: &[WriteStep<'_>]) -> Vec<PathBuf> {
    let made = steps.iter().filter(|it| it.new.is_some());
    let above = made.flat_map(|it| it.path.ancestors().skip(1));
    let mut missing: Vec<PathBuf> = above
        .filter(|it| !it.as_os_str().is_empty() && !dir.exists(it))
        .map(Path::to_owned)
        .collect();
    missing.sort();
    missing.dedup();
    missing
}

fn journal_path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn old_path(number: usize) -> PathBuf {
    journal_path(&format!("{number}.old"))
}

fn new_of(number: usize) -> PathBuf {
    journal_path(&format!("{number}.new"))
}

fn compute_digest(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
