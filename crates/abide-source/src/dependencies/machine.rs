//! The folders of this machine in which other tools keep what they bring.

use std::path::{Path, PathBuf};

/// The folders of this machine in which other tools keep what they bring.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The cache of buf.
    pub(super) buf_cache: Option<PathBuf>,
    /// The cache of Go modules.
    pub(super) go_cache: Option<PathBuf>,
    /// The home of Cargo.
    pub(super) cargo_home: Option<PathBuf>,
    /// The virtual environment of Python that is active.
    pub(super) python: Option<PathBuf>,
}

impl Machine {
    /// The folders that the environment of this process names, or those that the tools take
    /// without it.
    pub fn from_environment() -> Machine {
        let variable =
            |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        let below = |folder: &str| home.as_ref().map(|it| it.join(folder));
        let caches = variable("XDG_CACHE_HOME").or_else(|| match cfg!(windows) {
            true => variable("LOCALAPPDATA"),
            false => below(".cache"),
        });
        let go_path = variable("GOPATH")
            .and_then(|it| std::env::split_paths(&it).next())
            .or_else(|| below("go"));
        Machine {
            buf_cache: variable("BUF_CACHE_DIR").or_else(|| Some(caches?.join("buf"))),
            go_cache: variable("GOMODCACHE").or_else(|| Some(go_path?.join("pkg").join("mod"))),
            cargo_home: variable("CARGO_HOME").or_else(|| below(".cargo")),
            python: variable("VIRTUAL_ENV").filter(|it| it.is_absolute()),
        }
    }

    /// The virtual environments of Python: the active one, and those in folders of a tree. A link
    /// of the tree to another place does not count: whoever proposes a change could add it.
    pub(super) fn list_python_environments(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let near = |folder: &PathBuf| [".venv", "venv", "env"].map(|it| folder.join(it));
        let near = folders.iter().flat_map(near).filter(|it| is_environment(it));
        self.python.clone().into_iter().chain(near).collect()
    }
}

fn is_environment(folder: &Path) -> bool {
    let is_inside = folder.parent().zip(folder.canonicalize().ok());
    let is_inside = is_inside.is_some_and(|(around, real)| {
        around.canonicalize().is_ok_and(|around| real.starts_with(around))
    });
    is_inside && folder.join("pyvenv.cfg").is_file()
}
