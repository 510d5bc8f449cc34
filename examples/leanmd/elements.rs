//! What the program knows of chemical elements: mass and Lennard-Jones parameters.
//!
//! Distances and well depths are those of the Universal Force Field (Rappé et al., J. Am. Chem. Soc. 114 (1992) 10024,
//! Table 1: `x` and `D`); the masses are the standard atomic weights. An element that is not in the table is an error, never a
//! guess.

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub symbol: &'static str,
    /// Mass (u).
    pub mass: f64,
    /// Distance at which two of its atoms have the least energy (Å).
    pub distance: f64,
    /// Depth of that minimum (kcal/mol).
    pub depth: f64,
}

const fn element(symbol: &'static str, mass: f64, distance: f64, depth: f64) -> Element {
    Element { symbol, mass, distance, depth }
}

/// The elements of proteins, nucleic acids, their solvents and usual ions, and argon for the generated fluid.
pub const ELEMENTS: [Element; 20] = [
    element("H", 1.008, 2.886, 0.044),
    element("C", 12.011, 3.851, 0.105),
    element("N", 14.007, 3.660, 0.069),
    element("O", 15.999, 3.500, 0.060),
    element("F", 18.998, 3.364, 0.050),
    element("Na", 22.990, 2.983, 0.030),
    element("Mg", 24.305, 3.021, 0.111),
    element("P", 30.974, 4.147, 0.305),
    element("S", 32.06, 4.035, 0.274),
    element("Cl", 35.45, 3.947, 0.227),
    element("Ar", 39.948, 3.868, 0.185),
    element("K", 39.098, 3.812, 0.035),
    element("Ca", 40.078, 3.399, 0.238),
    element("Mn", 54.938, 2.961, 0.013),
    element("Fe", 55.845, 2.912, 0.013),
    element("Cu", 63.546, 3.495, 0.005),
    element("Zn", 65.38, 2.763, 0.124),
    element("Se", 78.971, 4.205, 0.291),
    element("Br", 79.904, 4.189, 0.251),
    element("I", 126.904, 4.500, 0.339),
];

/// The element of a symbol in any case, deuterium being hydrogen.
pub fn find(symbol: &str) -> Option<&'static Element> {
    let symbol = if symbol.eq_ignore_ascii_case("D") { "H" } else { symbol };
    ELEMENTS.iter().find(|element| element.symbol.eq_ignore_ascii_case(symbol))
}

impl Element {
    /// Where the energy of two such atoms changes its sign (Å): `distance / 2^(1/6)`.
    pub fn sigma(&self) -> f64 {
        self.distance / 2.0_f64.powf(1.0 / 6.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found_in_any_case_and_only_whole() {
        assert_eq!(find("CL").map(|e| e.mass), Some(35.45));
        assert_eq!(find("d").map(|e| e.symbol), Some("H"));
        assert_eq!(find("Q"), None);
        assert_eq!(find(""), None);
    }

    #[test]
    fn sigma_is_the_published_one() {
        let oxygen = find("O").expect("in the table");
        assert!((oxygen.sigma() - 3.11815).abs() < 1e-4);
    }
}
