//! Choosing the lengths of a grid.

use thiserror::Error;

/// Why there is no such grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{members} members do not fill a grid of which {fixed} are given")]
pub struct DimsError {
    /// How many have to be placed.
    pub members: u32,
    /// The product of the lengths that are given.
    pub fixed: u32,
}

/// Sets lengths that are 0 such that all members are placed and the lengths are as equal as can be, the longer ones
/// first (`MPI_Dims_create`).
///
/// ```
/// use talisman_ampi::comm::topology::dims_create;
/// let mut dims = [0, 7, 0];
/// dims_create(42 * 2, &mut dims).unwrap();
/// assert_eq!(dims, [4, 7, 3]);
/// ```
///
/// # Errors
/// If the lengths that are given do not divide the number of members.
pub fn dims_create(members: u32, dims: &mut [u32]) -> Result<(), DimsError> {
    let fixed = dims.iter().filter(|length| **length > 0).product::<u32>();
    let free = dims.iter().filter(|length| **length == 0).count();
    if fixed == 0 || !members.is_multiple_of(fixed) || (free == 0 && members != fixed) {
        return Err(DimsError { members, fixed });
    }
    let mut lengths = balanced(members / fixed, free).into_iter();
    for length in dims.iter_mut().filter(|length| **length == 0) {
        *length = lengths.next().unwrap_or(1);
    }
    Ok(())
}

/// The factorisation with the smallest largest factor, and of those the one whose next largest is the smallest, and
/// so on.
fn balanced(product: u32, factors: usize) -> Vec<u32> {
    match factors {
        0 => Vec::new(),
        1 => vec![product],
        _ => {
            let least = (1u32..).find(|n| n.checked_pow(factors as u32).is_none_or(|power| power >= product));
            let largest = (least.unwrap_or(product)..=product).filter(|n| product.is_multiple_of(*n));
            let fits = largest.map(|n| (n, balanced(product / n, factors - 1)));
            let mut fits = fits.skip_while(|(n, rest)| rest.first().is_some_and(|next| next > n));
            let (first, rest) = fits.next().unwrap_or((product, vec![1; factors - 1]));
            [vec![first], rest].concat()
        }
    }
}
