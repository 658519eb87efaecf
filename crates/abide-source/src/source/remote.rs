//! Advice for sources on other machines: Abide never uses the network.

use std::borrow::Cow;

use super::archive::is_archive_name;
use super::descriptors::has_set_name;

/// The folder of references that the advice fetches revisions to.
const FETCHED: &str = "baseline";

/// Says what to run instead, if a source is on another machine: an archive, a descriptor set, a
/// repository or a module of a registry.
pub(super) fn advise_on_remote(name: &str) -> Option<String> {
    let url = name.strip_prefix("git:").filter(|it| is_url(it)).unwrap_or(name);
    if !is_remote(url) {
        return guess_server(name);
    }
    let (address, options) = url.split_once('#').unwrap_or((url, ""));
    let step = advise_on_module(address)
        .or_else(|| advise_on_file(address, options))
        .unwrap_or_else(|| advise_on_repository(address, options));
    Some(format!("abide does not use the network: {step}"))
}

/// The server that was meant where only its address is named.
fn guess_server(name: &str) -> Option<String> {
    let address = name.strip_prefix("grpc:").unwrap_or(name);
    let (host, port) = address.rsplit_once(':')?;
    let is_host = !host.is_empty() && !host.starts_with("git:") && host != "git";
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".-_:[]".contains(it);
    let is_server = is_host && host.chars().all(is_plain) && port.parse::<u16>().is_ok();
    is_server.then(|| format!("it does not exist; did you mean the server `grpc://{address}`?"))
}

/// Returns true if a name is a URL, an address of a repository as ssh has it, or a module of buf's
/// registry.
fn is_remote(name: &str) -> bool {
    is_url(name) || is_ssh_address(name) || name.starts_with(MODULES)
}

fn is_url(name: &str) -> bool {
    const SCHEMES: &[&str] = &["https", "http", "ssh", "git", "git+ssh", "git+https", "ftp"];
    name.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty() && SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(scheme))
    })
}

/// Returns true for `git@example.com:acme/api`. A tag such as `api@1.2.0` may stand before a folder
/// in the same way, but no host ends with a number.
fn is_ssh_address(name: &str) -> bool {
    let Some((user, host)) = name.split_once(':').and_then(|(host, _)| host.split_once('@')) else {
        return false;
    };
    let ends_in_letters = host.rsplit_once('.').is_some_and(|(_, last)| {
        !last.is_empty() && last.chars().all(|it| it.is_ascii_alphabetic())
    });
    ends_in_letters && !format!("{user}{host}").contains(['/', '{'])
}

/// The beginning of modules in buf's registry.
const MODULES: &str = "buf.build/";

fn advise_on_module(address: &str) -> Option<String> {
    let module = address.strip_prefix(MODULES)?;
    let name = module.split(':').next()?.rsplit('/').next().filter(|it| !it.is_empty())?;
    let (address, set) = (quote_for_shell(address), format!("{name}.binpb"));
    let set = quote_for_shell(&set);
    Some(format!("run `buf build {address} -o {set}` and name `{set}`"))
}

/// Advice for one file that holds a tree.
fn advise_on_file(address: &str, options: &str) -> Option<String> {
    let path = address.split('?').next()?;
    let (_, path) = path.split_once("://")?;
    let (_, path) = path.split_once('/')?;
    let file = path.rsplit('/').next()?;
    let (file, subdir) = match file.split_once(':') {
        Some((file, subdir)) => (file, Some(subdir)),
        None => (file, find_option(options, &["subdir"])),
    };
    let is_archive = is_archive_name(file);
    if !is_archive && !has_set_name(file) {
        return None;
    }
    let address = match subdir {
        Some(subdir) => address.strip_suffix(&format!(":{subdir}")).unwrap_or(address),
        None => address,
    };
    let subdir = subdir.filter(|_| is_archive).map(|it| format!(":{it}")).unwrap_or_default();
    let (address, written) = (quote_for_shell(address), quote_for_shell(file));
    Some(format!("run `curl -fL -o {written} {address}` and name `{file}{subdir}`"))
}

fn advise_on_repository(address: &str, options: &str) -> String {
    let revision = find_option(options, &["commit", "tag", "ref", "branch"]).unwrap_or("HEAD");
    let subdir = find_option(options, &["subdir"]).map(|it| format!(":{it}")).unwrap_or_default();
    let refspec = format!("{revision}:refs/remotes/{FETCHED}/{revision}");
    let (address, refspec) = (quote_for_shell(address), quote_for_shell(&refspec));
    format!("run `git fetch {address} {refspec}` and name `git:{FETCHED}/{revision}{subdir}`")
}

/// The value of the first of these keys that buf's `KEY=VALUE,…` has.
fn find_option<'a>(options: &'a str, keys: &[&str]) -> Option<&'a str> {
    let find =
        |key: &&str| options.split(',').find_map(|word| word.strip_prefix(*key)?.strip_prefix('='));
    keys.iter().find_map(find).filter(|it| !it.is_empty())
}

/// Writes a word so that a shell takes it as it is.
fn quote_for_shell(word: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:@%+=,".contains(it);
    match word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::advise_on_remote;

    fn advise(name: &str) -> String {
        let advice = advise_on_remote(name).unwrap_or_default();
        advice.trim_start_matches("abide does not use the network: ").to_owned()
    }

    #[test]
    fn archives_and_sets_are_downloaded() {
        assert_eq!(
            advise("https://example.com/a/v1.tar.gz"),
            "run `curl -fL -o v1.tar.gz https://example.com/a/v1.tar.gz` and name `v1.tar.gz`"
        );
        assert_eq!(
            advise("https://example.com/v1.zip:proto"),
            "run `curl -fL -o v1.zip https://example.com/v1.zip` and name `v1.zip:proto`"
        );
        assert_eq!(
            advise("https://example.com/v1.zip#subdir=proto"),
            "run `curl -fL -o v1.zip https://example.com/v1.zip` and name `v1.zip:proto`"
        );
        assert_eq!(
            advise("http://example.com/api.binpb?a=1&b=2"),
            "run `curl -fL -o api.binpb 'http://example.com/api.binpb?a=1&b=2'` and name \
             `api.binpb`"
        );
    }

    #[test]
    fn revisions_of_other_repositories_are_fetched() {
        let fetched = |address: &str, revision: &str, named: &str| {
            format!(
                "run `git fetch {address} {revision}:refs/remotes/baseline/{revision}` and name \
                 `git:baseline/{named}`"
            )
        };
        let address = "https://example.com/acme/api.git";
        assert_eq!(advise(address), fetched(address, "HEAD", "HEAD"));
        assert_eq!(advise(&format!("git:{address}")), fetched(address, "HEAD", "HEAD"));
        let with_options = format!("{address}#branch=main,subdir=proto");
        assert_eq!(advise(&with_options), fetched(address, "main", "main:proto"));
        let address = "git@example.com:acme/api.git";
        assert_eq!(advise(&format!("{address}#tag=v1.2")), fetched(address, "v1.2", "v1.2"));
        let address = "ssh://git@example.com/acme/api";
        assert_eq!(advise(address), fetched(address, "HEAD", "HEAD"));
    }

    #[test]
    fn modules_are_written_to_a_set() {
        assert_eq!(
            advise("buf.build/acme/petapis:v1"),
            "run `buf build buf.build/acme/petapis:v1 -o petapis.binpb` and name `petapis.binpb`"
        );
    }

    #[test]
    fn an_address_without_a_scheme_is_a_server() {
        for (name, meant) in [
            ("localhost:50051", "grpc://localhost:50051"),
            ("grpc:localhost:50051", "grpc://localhost:50051"),
            ("[::1]:443", "grpc://[::1]:443"),
        ] {
            let wanted = format!("it does not exist; did you mean the server `{meant}`?");
            assert_eq!(advise_on_remote(name), Some(wanted));
        }
    }

    #[test]
    fn what_is_here_needs_no_advice() {
        for name in [
            "proto",
            "git:main",
            "git:20",
            "git:v1:2",
            "grpc://localhost:50051",
            "git:v1:proto",
            "api.binpb",
            "-",
            "git:main@{1}:a/b",
            "api@1.2.0:a/b",
        ] {
            assert_eq!(advise_on_remote(name), None, "{name}");
        }
    }
}
