//! Grids.

use talisman_pup::Pup;

use super::Neighbors;

/// A grid; the last dimension is that of neighbouring numbers.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Cartesian {
    /// For each dimension its length, and whether its ends are neighbours.
    dimensions: Vec<(u32, bool)>,
}

impl Cartesian {
    /// Of these lengths, each with whether its ends are neighbours. `None` if there are more places than 2^32.
    pub fn new(dimensions: &[(u32, bool)]) -> Option<Cartesian> {
        dimensions.iter().try_fold(1u32, |places, (length, _)| places.checked_mul(*length))?;
        Some(Cartesian { dimensions: dimensions.to_vec() })
    }

    /// For each dimension its length, and whether its ends are neighbours.
    pub fn dimensions(&self) -> &[(u32, bool)] {
        &self.dimensions
    }

    /// How many places it has.
    pub fn size(&self) -> u32 {
        self.dimensions.iter().map(|(length, _)| length).product()
    }

    /// Where a member is (`MPI_Cart_coords`).
    pub fn coordinates(&self, member: u32) -> Vec<u32> {
        let mut rest = member;
        let mut coordinates: Vec<u32> = self
            .dimensions
            .iter()
            .rev()
            .map(|(length, _)| {
                let at = rest % length;
                rest /= length;
                at
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// Who is at a place (`MPI_Cart_rank`); none beyond an end.
    pub fn member(&self, coordinates: &[i64]) -> Option<u32> {
        self.dimensions.iter().zip(coordinates).try_fold(0, |number, ((length, periodic), at)| {
            let length = i64::from(*length);
            let at = if *periodic { at.rem_euclid(length) } else { *at };
            (0..length).contains(&at).then(|| number * length as u32 + at as u32)
        })
    }

    /// Whom to receive from and whom to send to, to move everything by so many places (`MPI_Cart_shift`).
    pub fn shift(&self, member: u32, dimension: usize, by: i64) -> (Option<u32>, Option<u32>) {
        let moved = |by: i64| {
            let mut at: Vec<i64> = self.coordinates(member).into_iter().map(i64::from).collect();
            *at.get_mut(dimension)? += by;
            self.member(&at)
        };
        (moved(-by), moved(by))
    }

    /// For a part of the grid in which only these dimensions vary (`MPI_Cart_sub`): its grid, the colour that its
    /// members have in common, and the member's number in it.
    pub fn part(&self, member: u32, kept: &[bool]) -> (Cartesian, u32, u32) {
        let (mut color, mut number, mut dimensions) = (0, 0, Vec::new());
        let places = self.dimensions.iter().zip(self.coordinates(member)).zip(kept);
        for ((dimension, at), kept) in places {
            if *kept {
                number = number * dimension.0 + at;
                dimensions.push(*dimension);
            } else {
                color = color * dimension.0 + at;
            }
        }
        (Cartesian { dimensions }, color, number)
    }

    /// In each dimension the one before, then the one after. Blocks are sent the other way round: where both are the
    /// same member, what goes to the one after comes from the one before.
    pub(super) fn neighbors(&self, member: u32) -> Neighbors {
        let pairs = (0..self.dimensions.len()).map(|dimension| self.shift(member, dimension, 1));
        let all: Vec<Option<u32>> = pairs.flat_map(|(before, after)| [before, after]).collect();
        let sending = (0..all.len()).map(|at| at ^ 1).collect();
        Neighbors { sources: all.clone(), destinations: all, sending }
    }
}
