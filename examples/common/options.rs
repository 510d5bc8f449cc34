//! Values of options that several programs have.

use std::str::FromStr;

use talisman::prelude::*;

/// Three whole numbers above zero, one for each axis: `X,Y,Z`.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Triple(pub [usize; 3]);

/// What a text must be to be a [`Triple`].
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("give three whole numbers above zero, `X,Y,Z`, such as 64,64,32")]
pub struct NotATriple;

impl FromStr for Triple {
    type Err = NotATriple;

    fn from_str(text: &str) -> Result<Self, NotATriple> {
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
        let numbers: Option<Vec<usize>> = text.split(',').map(number).collect();
        numbers.and_then(|numbers| numbers.try_into().ok()).map(Triple).ok_or(NotATriple)
    }
}

/// A finite number above zero, for `value_parser`.
pub fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or("give a number above zero, such as 0.5 or 1e-6")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_is_three_whole_numbers() {
        assert_eq!("1,2,3".parse(), Ok(Triple([1, 2, 3])));
        assert_eq!(" 1, 2, 3".parse(), Ok(Triple([1, 2, 3])));
        for text in ["", "1,2", "1,2,3,4", "1,2,x", "1,-2,3", "1.5,2,3", "4,0,4"] {
            assert_eq!(text.parse::<Triple>(), Err(NotATriple), "{text}");
        }
    }

    #[test]
    fn positive_numbers_are_finite_and_above_zero() {
        assert_eq!(positive("1e-3"), Ok(0.001));
        for text in ["0", "-1", "NaN", "inf", "1e999", "x"] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
