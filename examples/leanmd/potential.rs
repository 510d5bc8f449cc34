//! The interaction of two atoms: Lennard-Jones with a soft core, brought smoothly to zero at the cutoff.
//!
//! A structure file gives atoms without bonds and charges, and bonded atoms sit far inside each other's Lennard-Jones wall
//! (hydrogen 1 Å from its oxygen). The wall is therefore softened as in Beutler et al., Chem. Phys. Lett. 222 (1994) 529, with
//! their `α (1 - λ)²` held at the constant [`SOFTNESS`]:
//!
//! ```text
//! t(r) = σ⁶ / (SOFTNESS σ⁶ + r⁶)          V₀(r) = 4 ε (t² - t)
//! ```
//!
//! and, so that energy and force reach zero together at the cutoff `c`, multiplied with the shifting function of CHARMM
//! (Brooks et al., J. Comput. Chem. 4 (1983) 187):
//!
//! ```text
//! w(r) = max(1 - r²/c², 0)               V(r) = V₀(r) w²
//! ```
//!
//! Both need no square root, one division, and no branch: `w` itself is the cutoff's mask. Parameters of unlike atoms mix
//! geometrically, in `σ` and in `ε`, as in the Universal Force Field: so each atom brings `σ³` and `√(4 ε)`, and a
//! pair's values are products.

use talisman::prelude::*;

/// Beutler's `α (1 - λ)²`: where two atoms coincide the energy is `4 ε (1/SOFTNESS² - 1/SOFTNESS)`, eight times `ε`.
pub const SOFTNESS: f64 = 0.5;

/// The constants of the interaction that all atoms share.
#[derive(Clone, Copy, Debug, Pup)]
pub struct Potential {
    /// Distance from which atoms do not interact, squared (Å²).
    pub cutoff_squared: f64,
    /// Its inverse (Å⁻²).
    pub inverse_cutoff_squared: f64,
}

impl Potential {
    /// The interaction that ends at `cutoff` (Å).
    pub fn new(cutoff: f64) -> Self {
        let cutoff_squared = cutoff * cutoff;
        Potential { cutoff_squared, inverse_cutoff_squared: 1.0 / cutoff_squared }
    }

    /// Energy (kcal/mol) at squared distance `r2` (Å²), and what the vector between the two atoms is multiplied with to give
    /// the force (kcal/mol/Å²). `sigma6` is the pair's `σ⁶` (Å⁶), `strength` its `4 ε` (kcal/mol).
    ///
    /// The formula of every kernel: the same IEEE operations in the same order, on one lane or on eight.
    #[inline(always)]
    pub fn at(&self, r2: f64, sigma6: f64, strength: f64) -> (f64, f64) {
        let inside = 1.0 - r2 * self.inverse_cutoff_squared;
        let w = if inside > 0.0 { inside } else { 0.0 };
        let r4 = r2 * r2;
        let inverse = 1.0 / (SOFTNESS * sigma6 + r4 * r2);
        let t = sigma6 * inverse;
        let well = t - 1.0;
        let scale = strength * t * w;
        let slope = (t + well) * (6.0 * inverse) * r4 * w;
        (scale * well * w, scale * (slope + well * (4.0 * self.inverse_cutoff_squared)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGMA6: f64 = 900.0;
    const STRENGTH: f64 = 0.5;

    fn energy(r: f64) -> f64 {
        Potential::new(9.0).at(r * r, SIGMA6, STRENGTH).0
    }

    #[test]
    fn the_force_is_the_slope_of_the_energy() {
        for r in [0.3, 1.0, 2.5, 3.1, 3.6, 5.0, 8.5, 8.99] {
            let h = 1e-5;
            let slope = (energy(r + h) - energy(r - h)) / (2.0 * h);
            let (_, factor) = Potential::new(9.0).at(r * r, SIGMA6, STRENGTH);
            assert!((factor * r + slope).abs() < 1e-8, "at {r}: force {} and slope {slope}", factor * r);
        }
    }

    #[test]
    fn energy_and_force_reach_zero_at_the_cutoff_and_stay_there() {
        let near = Potential::new(9.0).at(9.0_f64.next_down().powi(2), SIGMA6, STRENGTH);
        assert!(near.0.abs() < 1e-15 && near.1.abs() < 1e-15, "{near:?}");
        for r in [9.0, 9.1, 100.0] {
            assert_eq!(Potential::new(9.0).at(r * r, SIGMA6, STRENGTH), (0.0, 0.0));
        }
    }

    #[test]
    fn the_core_is_soft_and_the_well_is_where_lennard_jones_has_it() {
        assert!((energy(0.0) - 2.0 * STRENGTH).abs() < 1e-12, "4 ε (4 - 2)");
        let sigma = SIGMA6.powf(1.0 / 6.0);
        let deepest = (1..900).map(|i| f64::from(i) * 0.01).min_by(|a, b| energy(*a).total_cmp(&energy(*b)));
        let ratio = deepest.expect("a range that is not empty") / sigma;
        // Beutler's soft core moves the minimum from 2^(1/6) to 1.5^(1/6) times σ; the shift barely moves it.
        assert!((ratio - 1.5_f64.powf(1.0 / 6.0)).abs() < 0.03, "{ratio}");
    }
}
