//! Whom a change reaches.

use std::fmt;

/// Where an API meets its users. The names are those of reports and of
/// `abide.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    /// The binary encoding.
    Wire,
    /// The JSON mapping.
    Json,
    /// The text format.
    Text,
    /// The path of a gRPC call and its streams.
    Rpc,
    /// The HTTP route of a method.
    Rest,
    /// The name that `google.protobuf.Any` carries.
    TypeUrl,
    /// What constraints accept.
    Validation,
    /// Generated C++.
    SourceCpp,
    /// Generated Go.
    SourceGo,
    /// Generated Java.
    SourceJava,
    /// Generated Python.
    SourcePython,
    /// Generated C#; for packaging options alone.
    SourceCsharp,
    /// Generated Objective-C; for packaging options alone.
    SourceObjc,
    /// Generated PHP; for packaging options alone.
    SourcePhp,
    /// Generated Ruby; for packaging options alone.
    SourceRuby,
    /// Generated Swift; for packaging options alone.
    SourceSwift,
}

impl Surface {
    /// Every surface, in the order of reports.
    pub const ALL: &[Surface] = &[
        Surface::Wire,
        Surface::Json,
        Surface::Text,
        Surface::Rpc,
        Surface::Rest,
        Surface::TypeUrl,
        Surface::Validation,
        Surface::SourceCpp,
        Surface::SourceGo,
        Surface::SourceJava,
        Surface::SourcePython,
        Surface::SourceCsharp,
        Surface::SourceObjc,
        Surface::SourcePhp,
        Surface::SourceRuby,
        Surface::SourceSwift,
    ];

    /// The notations of a value.
    pub const NOTATIONS: &[Surface] = &[Surface::Wire, Surface::Json, Surface::Text];

    /// Its name in reports and configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Surface::Wire => "wire",
            Surface::Json => "json",
            Surface::Text => "text",
            Surface::Rpc => "rpc",
            Surface::Rest => "rest",
            Surface::TypeUrl => "type-url",
            Surface::Validation => "validation",
            Surface::SourceCpp => "source-cpp",
            Surface::SourceGo => "source-go",
            Surface::SourceJava => "source-java",
            Surface::SourcePython => "source-python",
            Surface::SourceCsharp => "source-csharp",
            Surface::SourceObjc => "source-objc",
            Surface::SourcePhp => "source-php",
            Surface::SourceRuby => "source-ruby",
            Surface::SourceSwift => "source-swift",
        }
    }

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

/// Whom a change breaks: a set of surfaces with directions. The empty set is a
/// compatible change.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Effects(u32);

impl Effects {
    /// Nobody.
    pub const NONE: Effects = Effects(0);

    const fn bit(surface: Surface, direction: Direction) -> u32 {
        1 << (surface as u32 + 16 * direction as u32)
    }

    /// These surfaces, backward.
    pub fn backward(surfaces: &[Surface]) -> Effects {
        Effects::of(surfaces, &[Direction::Backward])
    }

    /// These surfaces, forward.
    pub fn forward(surfaces: &[Surface]) -> Effects {
        Effects::of(surfaces, &[Direction::Forward])
    }

    /// These surfaces, in both directions.
    pub fn both(surfaces: &[Surface]) -> Effects {
        Effects::of(surfaces, Direction::ALL)
    }

    /// These surfaces, in these directions.
    pub fn of(surfaces: &[Surface], directions: &[Direction]) -> Effects {
        let mut effects = Effects::NONE;
        for &direction in directions {
            for &surface in surfaces {
                effects.insert(surface, direction);
            }
        }
        effects
    }

    /// Adds one effect.
    pub fn insert(&mut self, surface: Surface, direction: Direction) {
        self.0 |= Effects::bit(surface, direction);
    }

    /// Whether the set has this effect.
    pub fn contains(self, surface: Surface, direction: Direction) -> bool {
        self.0 & Effects::bit(surface, direction) != 0
    }

    /// Whether nobody is broken.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Every effect, by surface and then direction.
    pub fn iter(self) -> impl Iterator<Item = (Surface, Direction)> {
        Surface::ALL.iter().flat_map(move |&surface| {
            Direction::ALL
                .iter()
                .map(move |&direction| (surface, direction))
                .filter(move |&(surface, direction)| self.contains(surface, direction))
        })
    }

    /// The surfaces that are reached in any direction.
    pub fn surfaces(self) -> impl Iterator<Item = Surface> {
        Surface::ALL.iter().copied().filter(move |&surface| {
            Direction::ALL.iter().any(|&direction| self.contains(surface, direction))
        })
    }

    /// The directions in which any surface is reached.
    pub fn directions(self) -> impl Iterator<Item = Direction> {
        Direction::ALL.iter().copied().filter(move |&direction| {
            Surface::ALL.iter().any(|&surface| self.contains(surface, direction))
        })
    }

    /// Whether the new side breaks for users of the old.
    pub fn breaks_backward(self) -> bool {
        self.directions().any(|direction| direction == Direction::Backward)
    }

    /// What these effects are on another surface that carries theirs: in each
    /// direction in which they break anybody, turned by `turn`.
    #[must_use]
    pub fn carried_by(self, surface: Surface, turn: fn(Direction) -> Direction) -> Effects {
        Effects::of(&[surface], &self.directions().map(turn).collect::<Vec<Direction>>())
    }

    /// The part of the set on these surfaces.
    #[must_use]
    pub fn on(self, surfaces: &[Surface]) -> Effects {
        let kept = Effects::both(surfaces);
        Effects(self.0 & kept.0)
    }
}

impl std::ops::BitOr for Effects {
    type Output = Effects;

    fn bitor(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Effects {
    fn bitor_assign(&mut self, other: Effects) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Effects {
    /// `json, text in both directions; wire backward`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: [(&str, &[Direction]); 3] = [
            ("in both directions", Direction::ALL),
            ("backward", &[Direction::Backward]),
            ("forward", &[Direction::Forward]),
        ];
        let mut separator = "";
        for (words, directions) in groups {
            let here = |surface: &Surface| {
                Direction::ALL.iter().all(|direction| {
                    self.contains(*surface, *direction) == directions.contains(direction)
                })
            };
            let names: Vec<&str> =
                Surface::ALL.iter().copied().filter(here).map(Surface::name).collect();
            if !names.is_empty() {
                write!(f, "{separator}{} {words}", names.join(", "))?;
                separator = "; ";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|(surface, direction)| format!("{surface} {direction}")))
            .finish()
    }
}
