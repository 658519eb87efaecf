//! Where a change reaches users, and in which direction.

use std::fmt;

/// Declares each surface once: the enum, its order and its names.
macro_rules! surfaces {
    ($($(#[$doc:meta])* $surface:ident: $name:literal,)*) => {
        /// Where an API meets its users. The names are those of reports and of
        /// `abide.toml`.
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
    /// The name that `google.protobuf.Any` carries.
    TypeUrl: "type-url",
    /// What constraints accept.
    Validation: "validation",
    /// Generated C++.
    SourceCpp: "source-cpp",
    /// Generated Go.
    SourceGo: "source-go",
    /// Generated Java.
    SourceJava: "source-java",
    /// Generated Python.
    SourcePython: "source-python",
    /// Generated C#; for packaging options alone.
    SourceCsharp: "source-csharp",
    /// Generated Objective-C; for packaging options alone.
    SourceObjc: "source-objc",
    /// Generated PHP; for packaging options alone.
    SourcePhp: "source-php",
    /// Generated Ruby; for packaging options alone.
    SourceRuby: "source-ruby",
    /// Generated Swift; for packaging options alone.
    SourceSwift: "source-swift",
}

impl Surface {
    /// The notations of a value.
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

/// Which side meets which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The new side meets the old: a new reader and old data, a new server and
    /// an old client, new stubs and code written against the old.
    Backward,
    /// The old side meets the new.
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

    /// What reports call the side that writes: `old` or `new`.
    pub const fn writer(self) -> &'static str {
        match self {
            Direction::Backward => "old",
            Direction::Forward => "new",
        }
    }

    /// What reports call the side that reads what the other wrote.
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
