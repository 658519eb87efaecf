//! Presets: policies to start from.

/// A policy that comes with the tool. Each is an `abide.toml` in `presets/`, with
/// comments that give the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// For versioned packages of any owner.
    #[default]
    Standard,
    /// For the Envoy and xDS APIs.
    Envoy,
    /// For APIs in the style of googleapis.
    Google,
    /// What buf's category FILE reports.
    BufFile,
    /// What buf's category PACKAGE reports.
    BufPackage,
    /// What buf's category CSR reports.
    BufCsr,
    /// What buf's category WIRE_JSON reports.
    BufWireJson,
    /// What buf's category WIRE reports.
    BufWire,
}

impl Preset {
    /// Every preset.
    pub const ALL: &[Preset] = &[
        Preset::Standard,
        Preset::Envoy,
        Preset::Google,
        Preset::BufFile,
        Preset::BufPackage,
        Preset::BufCsr,
        Preset::BufWireJson,
        Preset::BufWire,
    ];

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Preset::Standard => "standard",
            Preset::Envoy => "envoy",
            Preset::Google => "google",
            Preset::BufFile => "buf-file",
            Preset::BufPackage => "buf-package",
            Preset::BufCsr => "buf-csr",
            Preset::BufWireJson => "buf-wire-json",
            Preset::BufWire => "buf-wire",
        }
    }

    /// The preset with this name.
    pub fn find(name: &str) -> Option<Preset> {
        Preset::ALL.iter().copied().find(|preset| preset.name() == name)
    }

    /// Its text, an `abide.toml`.
    pub const fn text(self) -> &'static str {
        match self {
            Preset::Standard => include_str!("../presets/standard.toml"),
            Preset::Envoy => include_str!("../presets/envoy.toml"),
            Preset::Google => include_str!("../presets/google.toml"),
            Preset::BufFile => include_str!("../presets/buf-file.toml"),
            Preset::BufPackage => include_str!("../presets/buf-package.toml"),
            Preset::BufCsr => include_str!("../presets/buf-csr.toml"),
            Preset::BufWireJson => include_str!("../presets/buf-wire-json.toml"),
            Preset::BufWire => include_str!("../presets/buf-wire.toml"),
        }
    }
}
