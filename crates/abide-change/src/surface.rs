//! The surfaces on which a change reaches users, and its direction.

use std::fmt;

/// Declares each surface once: the enum, its order and its names.
macro_rules! surfaces {
    ($($(#[$doc:meta])* $surface:ident: $name:literal,)*) => {
        /// A surface: one way in which users depend on an API. Reports and `abide.toml`
/// use these names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Surface {
            $($(#[$doc])* $surface,)*
        }

        impl Surface {
            /// Every surface, in the order of reports.
            pub const ALL: &[Surface] = &[$(Surface::$surface),*];

            /// Its name in reports and configuration.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Surface::$surface => $name,)*
                }
            }
        }
    };
}

surfaces! {
    /// The binary encoding.
    Wire: "wire",
    /// The JSON mapping.
    Json: "json",
    /// The text format.
    Text: "text",
    /// The path of a gRPC call and its streams.
    Rpc: "rpc",
    /// The HTTP route of a method.
    Rest: "rest",
    /// The type name in a `google.protobuf.Any`.
    TypeUrl: "type-url",
    /// The values that constraints accept.
    Validation: "validation",
    /// Generated C++.
    SourceCpp: "source-cpp",
    /// Generated Go.
    SourceGo: "source-go",
    /// Generated Java.
    SourceJava: "source-java",
    /// Generated Python.
    SourcePython: "source-python",
    /// Clients that are generated from the annotations of `google.api`.
    SourceGapic: "source-gapic",
    /// Generated C#; only for packaging options.
    SourceCsharp: "source-csharp",
    /// Generated Objective-C; only for packaging options.
    SourceObjc: "source-objc",
    /// Generated PHP; only for packaging options.
    SourcePhp: "source-php",
    /// Generated Ruby; only for packaging options.
    SourceRuby: "source-ruby",
    /// Generated Swift; only for packaging options.
    SourceSwift: "source-swift",
}

impl Surface {
    /// The encodings of a value.
    pub const NOTATIONS: &[Surface] = &[Surface::Wire, Surface::Json, Surface::Text];

    /// The surface with this name.
    pub fn find(name: &str) -> Option<Surface> {
        Surface::ALL.iter().copied().find(|surface| surface.name() == name)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The direction of a break: the new side meets the old one, or the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The new side meets the old one: a new reader and old data, a new server and
    /// an old client, or new stubs and code written against old ones.
    Backward,
    /// The old side meets the new one.
    Forward,
}

impl Direction {
    /// Both directions.
    pub const ALL: &[Direction] = &[Direction::Backward, Direction::Forward];

    /// The reverse.
    #[must_use]
    pub const fn other(self) -> Direction {
        match self {
            Direction::Backward => Direction::Forward,
            Direction::Forward => Direction::Backward,
        }
    }

    /// The name of the writing side in reports: `old` or `new`.
    pub const fn writer(self) -> &'static str {
        match self {
            Direction::Backward => "old",
            Direction::Forward => "new",
        }
    }

    /// The name of the reading side in reports.
    pub const fn reader(self) -> &'static str {
        self.other().writer()
    }

    /// Its name in reports and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Backward => "backward",
            Direction::Forward => "forward",
        }
    }

    /// The direction with this name.
    pub fn find(name: &str) -> Option<Direction> {
        Direction::ALL.iter().copied().find(|direction| direction.name() == name)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, Surface};

    #[test]
    fn names_find_what_they_name() {
        for (at, &surface) in Surface::ALL.iter().enumerate() {
            assert_eq!(surface as usize, at, "{surface}");
            assert_eq!(Surface::find(surface.name()), Some(surface));
        }
        for (at, &direction) in Direction::ALL.iter().enumerate() {
            assert_eq!(direction as usize, at, "{direction}");
            assert_eq!(Direction::find(direction.name()), Some(direction));
        }
    }
}
