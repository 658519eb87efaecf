//! Sets of surfaces with directions: the users that a change breaks.

use std::fmt;

use crate::surface::{Direction, Surface};

/// The effects of a change: the surfaces that it breaks, with directions. A
/// compatible change has none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// For each direction, in the order of `Direction::ALL`, a bit for each
    /// surface.
    sets: [u64; Direction::ALL.len()],
}

const _: () = assert!(Surface::ALL.len() <= u64::BITS as usize, "every surface has a bit");

impl Effects {
    /// Nobody.
    pub const NONE: Effects = Effects { sets: [0; Direction::ALL.len()] };

    const fn bit(surface: Surface) -> u64 {
        1 << surface as u32
    }

    /// Returns what `with` makes of both sets of each direction.
    fn merged(self, other: Effects, with: impl Fn(u64, u64) -> u64) -> Effects {
        let mut sets = self.sets;
        for (set, other) in sets.iter_mut().zip(other.sets) {
            *set = with(*set, other);
        }
        Effects { sets }
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
        self.sets[direction as usize] |= Effects::bit(surface);
    }

    /// Returns true if the set has this effect.
    pub fn contains(self, surface: Surface, direction: Direction) -> bool {
        self.sets[direction as usize] & Effects::bit(surface) != 0
    }

    /// Returns true if nobody is broken.
    pub fn is_empty(self) -> bool {
        self == Effects::NONE
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

    /// The surfaces that are broken in any direction.
    pub fn surfaces(self) -> impl Iterator<Item = Surface> {
        Surface::ALL.iter().copied().filter(move |&surface| {
            Direction::ALL.iter().any(|&direction| self.contains(surface, direction))
        })
    }

    /// The directions in which any surface is broken.
    pub fn directions(self) -> impl Iterator<Item = Direction> {
        Direction::ALL.iter().copied().filter(move |&direction| {
            Surface::ALL.iter().any(|&surface| self.contains(surface, direction))
        })
    }

    /// Returns true if the new side breaks for users of the old.
    pub fn breaks_backward(self) -> bool {
        self.directions().any(|direction| direction == Direction::Backward)
    }

    /// The effects on another surface that carries these values: one for each
    /// direction with a break, turned by `turn`.
    #[must_use]
    pub fn carried_by(self, surface: Surface, turn: fn(Direction) -> Direction) -> Effects {
        Effects::of(&[surface], &self.directions().map(turn).collect::<Vec<Direction>>())
    }

    /// The part of the set on these surfaces.
    #[must_use]
    pub fn on(self, surfaces: &[Surface]) -> Effects {
        self.merged(Effects::both(surfaces), |own, kept| own & kept)
    }
}

impl std::ops::BitOr for Effects {
    type Output = Effects;

    fn bitor(self, other: Effects) -> Effects {
        self.merged(other, |own, other| own | other)
    }
}

impl std::ops::BitOrAssign for Effects {
    fn bitor_assign(&mut self, other: Effects) {
        *self = *self | other;
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

#[cfg(test)]
mod tests {
    use super::{Direction, Effects, Surface};

    fn each() -> impl Iterator<Item = (Surface, Direction)> {
        let both = |&surface| Direction::ALL.iter().map(move |&direction| (surface, direction));
        Surface::ALL.iter().flat_map(both)
    }

    #[test]
    fn every_surface_in_every_direction_is_an_effect_of_its_own() {
        for (surface, direction) in each() {
            let one = Effects::of(&[surface], &[direction]);
            assert!(one.iter().eq([(surface, direction)]), "{one:?}");
            let with = |it: &(Surface, Direction)| one.contains(it.0, it.1);
            assert!(each().filter(with).eq([(surface, direction)]), "{one:?}");
            assert_eq!(one.to_string(), format!("{surface} {direction}"));
        }
        assert!(Effects::both(Surface::ALL).iter().eq(each()));
    }

    #[test]
    fn sets_are_joined_and_cut_direction_by_direction() {
        let wire = Effects::both(&[Surface::Wire]);
        let json = Effects::forward(&[Surface::Json]);
        let all = wire | json;
        assert_eq!(all.to_string(), "wire in both directions; json forward");
        assert_eq!(all.on(&[Surface::Json]), json);
        assert_eq!(all.on(&[Surface::Text]), Effects::NONE);
        assert!(Effects::default().is_empty() && !json.is_empty());
        assert!(wire.breaks_backward() && !json.breaks_backward());
    }
}
