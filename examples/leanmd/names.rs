//! The element of an atom whose element columns are blank, from its name and its residue's; none where these leave a doubt.
//!
//! The names of amino acids, nucleic acids, water, haem and single-atom ions are known (`residues.rs`), wherever they stand in their
//! columns. Of any other residue the standard says that a symbol of one letter stands in column 14, one of two letters begins in column
//! 13; but many programs do not keep to it, so that `CA` in column 13 may be a carbon. A name that is not known is certain if its letters are a symbol in
//! one of the two ways only, or if the residue's other names show that whoever wrote them kept to the standard.

use super::residues;

/// An atom's names, as their columns have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Names {
    /// Columns 13-16.
    pub atom: [u8; 4],
    /// Columns 18-21, the last of which other programs than the PDB's use.
    pub residue: [u8; 4],
}

/// The symbols of all atoms, some of which have one of their own from the element columns.
pub fn symbols<'a>(
    atoms: impl Iterator<Item = &'a Names> + Clone,
) -> impl FnMut(&Names) -> Option<&'static str> {
    let mut kept: Vec<([u8; 4], bool)> = Vec::new();
    move |names| {
        let (atom, residue) = (upper(names.atom), upper(names.residue));
        let known = residues::find(residue.trim()).and_then(|known| known.element(atom.trim()));
        if known.is_some() {
            return known;
        }
        match letters(&names.atom) {
            Letters::One(symbol) | Letters::Two(symbol) => Some(symbol),
            Letters::Either(one, two) => {
                let known =
                    kept.iter().find(|(residue, _)| *residue == names.residue).map(|(_, keeps)| *keeps);
                let keeps = known.unwrap_or_else(|| {
                    let keeps =
                        keeps_to_the_standard(atoms.clone().filter(|other| other.residue == names.residue));
                    kept.push((names.residue, keeps));
                    keeps
                });
                match names.atom {
                    _ if !keeps => None,
                    [b' ', ..] => Some(one),
                    // Four letters and digits begin in column 13 in any case.
                    [.., b' '] => Some(two),
                    _ => None,
                }
            }
            Letters::Neither => None,
        }
    }
}

/// What the letters of a name can be.
enum Letters {
    One(&'static str),
    Two(&'static str),
    Either(&'static str, &'static str),
    Neither,
}

fn letters(name: &[u8; 4]) -> Letters {
    let text = upper(*name);
    let text = text.trim().trim_start_matches(|c: char| c.is_ascii_digit());
    let among = |symbols: &'static str, wanted: Option<&str>| {
        symbols.split(' ').find(|symbol| wanted.is_some_and(|wanted| symbol.eq_ignore_ascii_case(wanted)))
    };
    match (among(ONE_LETTER, text.get(..1)), among(TWO_LETTERS, text.get(..2))) {
        (Some(one), Some(two)) => Letters::Either(one, two),
        (Some(one), None) => Letters::One(one),
        (None, Some(two)) => Letters::Two(two),
        (None, None) => Letters::Neither,
    }
}

/// Whether certain names of one letter stand in column 14, none of them in 13, and short ones of two letters the other way round.
fn keeps_to_the_standard<'a>(names: impl Iterator<Item = &'a Names>) -> bool {
    let (mut indented, mut not_indented) = (false, false);
    for names in names {
        let (short, in_14) = (names.atom[3] == b' ', names.atom[0] == b' ');
        match letters(&names.atom) {
            Letters::One(_) if in_14 => indented = true,
            Letters::One(_) if short && names.atom[0].is_ascii_alphabetic() => return false,
            Letters::Two(_) if in_14 => return false,
            Letters::Two(_) | Letters::Either(..) if short && !in_14 => not_indented = true,
            _ => {}
        }
    }
    indented && not_indented
}

fn upper(field: [u8; 4]) -> String {
    field.iter().map(|byte| char::from(byte.to_ascii_uppercase())).collect()
}

/// Deuterium is left out: `D` begins the names of dummies.
const ONE_LETTER: &str = "H B C N O F P S K V Y I W U";

/// Up to lawrencium; what lives for minutes is in no structure.
const TWO_LETTERS: &str = "He Li Be Ne Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Zr Nb Mo Tc Ru Rh Pd \
    Ag Cd In Sn Sb Te Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th \
    Pa Np Pu Am Cm Bk Cf Es Fm Md No Lr";

#[cfg(test)]
mod tests {
    use super::*;

    fn names(atom: &str, residue: &str) -> Names {
        let field = |text: &str| format!("{text:<4}").into_bytes().try_into().expect("four columns");
        Names { atom: field(atom), residue: field(residue) }
    }

    /// The symbols of a residue's atoms.
    fn all<const N: usize>(residue: &str, atoms: [&str; N]) -> [Option<&'static str>; N] {
        let atoms = atoms.map(|atom| names(atom, residue));
        let mut symbol = symbols(atoms.iter());
        std::array::from_fn(|number| symbol(&atoms[number]))
    }

    fn one(residue: &str, atom: &str) -> Option<&'static str> {
        all(residue, [atom])[0]
    }

    #[test]
    fn known_residues_have_known_names_wherever_they_stand() {
        for (residue, atom, symbol) in [
            ("ALA", " CA", "C"),
            ("ALA", "CA", "C"),
            ("VAL", "HG11", "H"),
            ("ALA", "1HB", "H"),
            ("ARG", "NE", "N"),
            ("LYS", "CE", "C"),
            ("NMET", " SD", "S"),
            ("HOH", "OW", "O"),
            ("TIP3", "OH2", "O"),
            ("DOD", " D1", "D"),
            ("MSE", "SE", "Se"),
            ("MSE", " CE", "C"),
            ("HEM", "FE", "Fe"),
            ("HEM", " NA", "N"),
            ("HEM", " CHA", "C"),
            ("DA5", " P", "P"),
            ("A", "HO2'", "H"),
            ("DT", " C5M", "C"),
            ("U", " C2", "C"),
            ("CA", "CA", "Ca"),
            ("CL-", "CL", "Cl"),
            ("Na+", "Na+", "Na"),
            ("SOD", "SOD", "Na"),
            ("CO", "CO", "Co"),
        ] {
            assert_eq!(one(residue, atom), Some(symbol), "{atom} of {residue}");
        }
    }

    #[test]
    fn names_that_a_residue_does_not_have_are_uncertain() {
        for (residue, atom) in [
            ("ALA", "CL1"),
            ("ALA", "NA"),
            ("GLY", "BR"),
            ("MET", "FE"),
            ("HOH", "MW"),
            ("HEM", "CL1"),
            ("DA", "CM"),
            ("NA", "CL"),
        ] {
            assert_eq!(one(residue, atom), None, "{atom} of {residue}");
        }
    }

    #[test]
    fn letters_with_one_reading_are_certain_and_others_are_not() {
        assert_eq!(
            all("LIG", [" C1", "C2", "ZN", " ZN", "MG1", "1HB"]),
            ["C", "C", "Zn", "Zn", "Mg", "H"].map(Some)
        );
        for atom in [
            "CL1", " CL1", "CO", "CD", "NI", "PT1", "BR1", "HG11", "SE", " CA", "DUM", " D1", "LP1", "XX", "",
        ] {
            assert_eq!(one("LIG", atom), None, "{atom}");
        }
    }

    #[test]
    fn a_residue_that_keeps_to_the_standard_is_read_by_it() {
        assert_eq!(all("LIG", [" C1", "CL1", " CA", "HG11"]), [Some("C"), Some("Cl"), Some("C"), None]);
        assert_eq!(all("LIG", [" C1", " CL1"]), [Some("C"), None], "nothing shows where two letters begin");
        assert_eq!(all("LIG", ["C1", "CL1"]), [Some("C"), None], "one letter stands in column 13");
        assert_eq!(all("LIG", [" C1", "C2", "CL1"]), [Some("C"), Some("C"), None]);
        assert_eq!(all("LIG", [" C1", " ZN", "CL1"]), [Some("C"), Some("Zn"), None]);
    }
}
