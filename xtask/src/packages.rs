//! `cargo xtask packages`: uses what `.ci/package` made for this machine as its users do.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{output, stdout, target, workspace};

/// More than the binary takes, and less than it takes with its symbols and debug information.
const LARGEST: u64 = 31 << 20;

/// The same for the programs that only start it under the names that buf and protoc look for.
const LARGEST_LAUNCHER: u64 = 4 << 20;

/// How each shell completes `abide brea`, from the file of its completions.
const SHELLS: &[(&str, &str, &[&str])] = &[
    (
        "abide.bash",
        "source \"$1\"; COMP_WORDS=(abide brea); COMP_CWORD=1; _abide abide brea abide; \
         echo \"${COMPREPLY[@]}\"",
        &["bash", "--norc", "-c"],
    ),
    // What it offers is shown by its line editor alone.
    (
        "_abide",
        "autoload -U compinit; compinit -D; source \"$1\"; zsh -n \"$1\"; \
         [ \"$_comps[abide]\" = _abide ] && whence -f _abide_commands | grep -o breaking",
        &["zsh", "-f", "-c"],
    ),
    ("abide.fish", "source $argv[2]; complete -C 'abide brea'", &["fish", "--no-config", "-c"]),
];

/// Tries the packages; the paths of those who use them have no cargo.
pub(crate) fn run() -> Result<bool> {
    let packages = target()?.join("packages");
    let stage = corpora::make_fresh_folder("packages")?;
    let path = path_without("cargo")?;
    check_wheel(&packages, &stage, &path)?;
    check_archive(&packages, &stage)?;
    println!("packages: as expected");
    Ok(true)
}

/// Installs the wheel into a fresh environment, without an index, and runs what it holds.
fn check_wheel(packages: &Path, stage: &Path, path: &OsString) -> Result<()> {
    let folder = stage.join("venv");
    stdout(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let mut install = Command::new(folder.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    install.arg("--find-links").arg(packages).arg("abide-cli").env("PATH", path);
    stdout(&mut install)?;
    let binary = folder.join("bin/abide");
    let size = fs::metadata(&binary)?.len();
    if size > LARGEST {
        return Err(format!("`abide` has {size} bytes: is it stripped?").into());
    }
    try_binary(&binary, path, "wheel")?;
    check_launchers(&folder.join("bin"), path)?;
    println!("wheel: `abide` of {} KiB, installed without cargo", size >> 10);
    Ok(())
}

/// Unpacks the archive, and uses the binary, the completions and the manual.
fn check_archive(packages: &Path, stage: &Path) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let triple = stdout(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let name = format!("abide-{version}-{}", triple.trim());
    let packed = packages.join(format!("{name}.tar.gz"));
    stdout(Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(stage))?;
    let folder = stage.join(name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    try_binary(&folder.join("abide"), &path, "archive")?;
    check_launchers(&folder, &path)?;
    let version = stdout(Command::new(folder.join("abide-remote")).arg("--version"))?;
    if version.trim() != concat!("abide-remote ", env!("CARGO_PKG_VERSION")) {
        return Err(format!("the archive holds `{}`", version.trim()).into());
    }

    for name in ["README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY"] {
        if fs::metadata(folder.join(name))?.len() == 0 {
            return Err(format!("`{name}` of the archive is empty").into());
        }
    }
    for (file, script, shell) in SHELLS {
        let [program, arguments @ ..] = shell else { continue };
        let script_name = folder.join("completions").join(file);
        let mut command = Command::new(program);
        // Before the file stands what the shell takes for its own name.
        command.args(arguments).arg(script).arg("abide").arg(script_name);
        let offered = stdout(&mut command).map_err(|error| {
            format!("`apt-get install zsh fish`, or their completions are broken: {error}")
        })?;
        if !offered.contains("breaking") {
            return Err(format!("{program} completes `abide brea` with `{offered}`").into());
        }
        println!("completions: {program} completes `abide brea`");
    }

    let mut pages = 0;
    for entry in fs::read_dir(folder.join("man/man1"))? {
        let page = entry?.path();
        let said = output(Command::new("mandoc").args(["-T", "lint", "-W", "error"]).arg(&page))
            .map_err(|error| format!("`apt-get install mandoc`: {error}"))?;
        if !said.status.success() {
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            return Err(format!("{}: {said}", page.display()).into());
        }
        let text = stdout(Command::new("mandoc").args(["-T", "ascii"]).arg(&page))?;
        // Bold letters are struck twice.
        if !text.contains("S\u{8}SY\u{8}YN\u{8}NO\u{8}OP\u{8}PS\u{8}SI\u{8}IS\u{8}S") {
            return Err(format!("{} has no synopsis: {text}", page.display()).into());
        }
        pages += 1;
    }
    println!("manual: {pages} pages, without an error of mandoc");
    Ok(())
}

/// Starts the plugins beside a binary, each by its name.
fn check_launchers(folder: &Path, path: &OsString) -> Result<()> {
    for (name, args) in [("buf-plugin-abide", &["--spec"][..]), ("protoc-gen-abide", &[])] {
        let program = folder.join(name);
        let size = fs::metadata(&program)?.len();
        if size > LARGEST_LAUNCHER {
            return Err(format!("`{name}` has {size} bytes: it must only start `abide`").into());
        }
        let said = output(Command::new(&program).args(args).env("PATH", path))?;
        if !said.status.success() || said.stdout.is_empty() {
            let said = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(format!("`{name}` does not answer: {said}").into());
        }
    }
    Ok(())
}

/// Runs the version and a check of the small tree, as the README shows it.
fn try_binary(binary: &Path, path: &OsString, what: &str) -> Result<()> {
    let version = stdout(Command::new(binary).arg("--version").env("PATH", path))?;
    let expected = concat!("abide ", env!("CARGO_PKG_VERSION"));
    if version.trim() != expected {
        return Err(format!("the {what} holds `{}`, not `{expected}`", version.trim()).into());
    }
    let mut check = Command::new(binary);
    check.args(["check", "testdata/trees/acme"]).current_dir(workspace()?).env("PATH", path);
    let checked = output(&mut check)?;
    let golden = fs::read(workspace()?.join("testdata/cli/acme.txt"))?;
    if checked.status.code() != Some(1) || checked.stdout != golden {
        let said = String::from_utf8_lossy(&checked.stdout);
        return Err(format!("the {what} checks another way, {}: {said}", checked.status).into());
    }
    Ok(())
}

/// The folders that programs are found in, but for those with this one.
pub(crate) fn path_without(program: &str) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let without = |folder: &PathBuf| !folder.join(program).exists();
    Ok(std::env::join_paths(std::env::split_paths(&path).filter(without))?)
}
