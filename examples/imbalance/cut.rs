//! How the square is cut into objects.

use talisman::prelude::*;

/// An object's place.
pub type Place = (i32, i32);

/// Sides of an object: west and east (`x`), south and north (`y`). A side's opposite is `side ^ 1`.
pub const SIDES: usize = 4;

/// A square of cells, cut along both axes.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct Cut {
    /// Cells along each side.
    pub grid: usize,
    /// Objects along each axis.
    pub objects: [usize; 2],
}

/// Why a square cannot be cut as wanted.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "{objects} objects are {x} × {y}, more along an axis than the {grid} cells of the square's side; \
     use a larger --grid, or fewer --objects-per-pe or PEs"
)]
pub struct CutError {
    objects: u64,
    x: u64,
    y: u64,
    grid: usize,
}

impl Cut {
    /// Cuts a square of `grid` × `grid` cells into so many objects, as square as their number allows.
    pub fn new(grid: usize, objects: u64) -> Result<Self, CutError> {
        let y = (1..=objects.isqrt()).rev().find(|y| objects.is_multiple_of(*y)).unwrap_or(1);
        let x = objects / y;
        if x > grid as u64 {
            return Err(CutError { objects, x, y, grid });
        }
        Ok(Cut { grid, objects: [x as usize, y as usize] })
    }

    /// The first cell of an object along each axis.
    pub fn origin(&self, (i, j): Place) -> [usize; 2] {
        [self.start(0, i as usize), self.start(1, j as usize)]
    }

    /// Cells of an object along each axis: the square is dealt out evenly.
    pub fn size(&self, (i, j): Place) -> [usize; 2] {
        let [x, y] = self.origin((i, j));
        [self.start(0, i as usize + 1) - x, self.start(1, j as usize + 1) - y]
    }

    /// The object beyond a side, if that is not the border of the square.
    pub fn neighbour(&self, (i, j): Place, side: usize) -> Option<Place> {
        let mut place = [i, j];
        place[side / 2] += if side.is_multiple_of(2) { -1 } else { 1 };
        (0..self.objects[side / 2] as i32).contains(&place[side / 2]).then_some((place[0], place[1]))
    }

    fn start(&self, axis: usize, object: usize) -> usize {
        object * self.grid / self.objects[axis]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_cover_the_square_once() {
        for objects in [1, 6, 7, 64, 128, 192, 448] {
            let cut = Cut::new(500, objects).expect("cells enough");
            let [x, y] = cut.objects.map(|n| n as i32);
            assert_eq!(x as u64 * y as u64, objects);
            let sizes = (0..x).flat_map(|i| (0..y).map(move |j| (i, j))).map(|place| cut.size(place));
            assert_eq!(sizes.map(|[x, y]| x * y).sum::<usize>(), 500 * 500);
        }
        assert_eq!(Cut::new(500, 192).expect("cells enough").objects, [16, 12]);
    }

    #[test]
    fn neighbours_end_at_the_border() {
        let cut = Cut::new(8, 4).expect("cells enough");
        assert_eq!(
            [0, 1, 2, 3].map(|side| cut.neighbour((0, 1), side)),
            [None, Some((1, 1)), Some((0, 0)), None]
        );
    }

    #[test]
    fn more_objects_than_cells_are_refused() {
        let message = Cut::new(7, 64).expect_err("too many").to_string();
        assert!(message.contains("8 × 8") && message.contains("--grid"), "{message}");
    }
}
