//! Files as editors name them: URIs.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path that a URI of a file names.
pub(super) fn parse_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // What is before the path names this machine.
    let path = rest.get(rest.find('/')?..)?;
    let path = path.split(['?', '#']).next()?;
    let path = decode(path)?;
    // `/c:/…` on Windows.
    let drive = path.strip_prefix('/').filter(|it| it.as_bytes().get(1) == Some(&b':'));
    Some(PathBuf::from(if cfg!(windows) { drive.unwrap_or(&path) } else { &path }))
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = (rest.next()? as char).to_digit(16)?;
        let low = (rest.next()? as char).to_digit(16)?;
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

/// The URI of a file.
pub(super) fn format_uri(path: &Path) -> Option<Uri> {
    let text = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let mut uri = "file://".to_owned();
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                uri.push(byte as char);
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&uri).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_its_uri_name_the_same_file() {
        let path = Path::new("/a b/ü/字#%?.proto");
        let uri = format_uri(path).expect("it is a path");
        assert_eq!(uri.as_str(), "file:///a%20b/%C3%BC/%E5%AD%97%23%25%3F.proto");
        assert_eq!(parse_path(&uri).as_deref(), Some(path));
        for (text, path) in [
            ("file://localhost/a.proto", Some("/a.proto")),
            ("file:///a%3Ab.proto", Some("/a:b.proto")),
            ("untitled:Untitled-1", None),
            ("file:///%zz", None),
        ] {
            let uri = Uri::from_str(text);
            let found = uri.ok().and_then(|it| parse_path(&it));
            assert_eq!(found.as_deref(), path.map(Path::new), "{text}");
        }
    }
}
