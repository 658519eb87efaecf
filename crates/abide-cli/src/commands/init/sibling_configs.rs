//! Files of buf and of other tools beside a `buf.yaml`, and what they are for here.

use std::path::Path;

/// Says why `--from` cannot read a file of another kind, by its name.
pub(super) fn describe_other_kind(from: &Path) -> Option<&'static str> {
    let name = from.file_name()?.to_str()?;
    Some(match name {
        "buf.gen.yaml" => {
            "says how buf generates code, which abide does not do: keep it, and name the buf.yaml \
             beside it"
        }
        "buf.lock" => {
            "pins the modules that buf fetches: name the buf.yaml beside it, whose `deps` become \
             dependencies"
        }
        ".protolint.yaml" | ".protolint.yml" => {
            "configures protolint: run `abide init` without `--from`; `abide rules` lists what \
             Abide checks"
        }
        "prototool.yaml" | "prototool.json" => {
            "configures prototool: run `abide init` without `--from`; `abide rules` lists what \
             Abide checks"
        }
        _ => return None,
    })
}

/// Says what the other files of buf in the folder are for.
pub(super) fn describe_sibling_configs(from: &Path) -> Vec<String> {
    let known = [("buf.gen.yaml", "it says how buf generates code; keep it and `buf generate`")];
    let there = known.iter().filter(|(name, _)| from.with_file_name(name).is_file());
    there.map(|(name, what)| format!("note: {name} was not read: {what}")).collect()
}
