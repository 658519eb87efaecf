//! Links to the files of a repository, where other people read them.

use std::path::Path;

use super::repository::discover;

/// The pages of a repository on a forge, at one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeLinks {
    /// The address of the repository, without a slash at its end.
    address: String,
    /// The commit that is checked out.
    commit: String,
}

impl ForgeLinks {
    /// The pages of the remote `origin` of the repository around a folder, at the commit that is
    /// checked out.
    pub fn discover(folder: &Path) -> Option<ForgeLinks> {
        let repository = discover(folder).ok()?.to_thread_local();
        let remote = repository.config_snapshot().string("remote.origin.url")?.to_string();
        let commit = repository.head_id().ok()?.to_string();
        Some(ForgeLinks { address: find_page(&remote)?, commit })
    }

    /// The address of a line of a file, whose path counts from the top of the repository.
    pub fn link(&self, path: &str, line: u32) -> String {
        let host =
            self.address.trim_start_matches("https://").split('/').next().unwrap_or_default();
        let (folder, mark) = match () {
            () if host.contains("gitlab") => ("/-/blob", "#L"),
            () if host.contains("bitbucket") => ("/src", "#lines-"),
            () if host.contains("gitea") || host.contains("codeberg") => ("/src/commit", "#L"),
            () => ("/blob", "#L"),
        };
        let path = encode_path(path);
        format!("{}{folder}/{}/{path}{mark}{line}", self.address, self.commit)
    }
}

/// The address of a repository for people, by that of its remote; `None` for one that is no page.
/// Names of users and passwords are left out.
fn find_page(remote: &str) -> Option<String> {
    let rest = match remote.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.to_owned(),
        Some(_) => return None,
        // As in `git@github.com:owner/name.git`.
        None => remote.split_once(':').map(|(host, path)| format!("{host}/{path}"))?,
    };
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    // The port is that of git, which no browser speaks to.
    let host = match remote.starts_with("http") {
        true => host,
        false => host.split(':').next().unwrap_or(host),
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_host = host.contains('.')
        && host.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | ':'));
    (is_host && path.contains('/')).then(|| format!("https://{host}/{}", encode_path(path)))
}

/// A path in which only what has no meaning in an address is left as it is.
fn encode_path(path: &str) -> String {
    let mut encoded = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_has_the_page_that_people_read() {
        for (remote, page) in [
            ("git@github.com:acme/api.git", Some("https://github.com/acme/api")),
            ("https://github.com/acme/api", Some("https://github.com/acme/api")),
            (
                "https://user:secret@git.acme.com/acme/api.git",
                Some("https://git.acme.com/acme/api"),
            ),
            ("ssh://git@git.acme.com:2222/acme/api.git", Some("https://git.acme.com/acme/api")),
            ("https://git.acme.com:8443/a/b/", Some("https://git.acme.com:8443/a/b")),
            ("/srv/git/api.git", None),
            ("../api", None),
            ("file:///srv/git/api.git", None),
            ("https://github.com/", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(find_page(remote).as_deref(), page, "{remote}");
        }
    }

    #[test]
    fn a_link_leads_to_the_line_on_each_forge() {
        for (address, link) in [
            ("https://github.com/a/b", "https://github.com/a/b/blob/c0ffee/x%20y.proto#L7"),
            ("https://gitlab.com/a/b", "https://gitlab.com/a/b/-/blob/c0ffee/x%20y.proto#L7"),
            (
                "https://bitbucket.org/a/b",
                "https://bitbucket.org/a/b/src/c0ffee/x%20y.proto#lines-7",
            ),
            (
                "https://codeberg.org/a/b",
                "https://codeberg.org/a/b/src/commit/c0ffee/x%20y.proto#L7",
            ),
        ] {
            let links = ForgeLinks { address: address.to_owned(), commit: "c0ffee".to_owned() };
            assert_eq!(links.link("x y.proto", 7), link);
        }
    }
}
