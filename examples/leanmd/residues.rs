//! Residues whose atoms' names are known, so that the names say the elements: those of proteins, nucleic acids, water, haem, and ions.
//!
//! Names are those of the PDB, of CHARMM, AMBER and GROMACS. No guess is made of a name that a residue does not have.

/// A known residue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Residue {
    Amino,
    /// With selenium in place of sulphur.
    Seleno,
    Nucleic,
    Water,
    Haem,
    /// An ion or a noble gas: its symbol, and the name that CHARMM gives it.
    Atom(&'static str, &'static str),
}

/// The residue of a name in capitals, if it is known.
pub fn find(name: &str) -> Option<Residue> {
    let among = |names: &str| names.split(' ').any(|known| known == name);
    if among(SELENO) {
        return Some(Residue::Seleno);
    }
    if among(AMINO) || is_terminal(name) {
        return Some(Residue::Amino);
    }
    if among(WATER) {
        return Some(Residue::Water);
    }
    if among(HAEM) {
        return Some(Residue::Haem);
    }
    let ion = ATOMS.iter().find(|(symbol, other)| symbol.eq_ignore_ascii_case(bare(name)) || *other == name);
    match ion {
        Some((symbol, other)) => Some(Residue::Atom(symbol, other)),
        None => is_nucleic(name).then_some(Residue::Nucleic),
    }
}

impl Residue {
    /// The symbol of the element of an atom, by its name in capitals; none if the residue has no such atom.
    pub fn element(self, name: &str) -> Option<&'static str> {
        match self {
            Residue::Amino => amino(name),
            Residue::Seleno if name == "SE" => Some("Se"),
            Residue::Seleno => amino(name).filter(|symbol| *symbol != "S"),
            Residue::Nucleic => nucleic(name),
            Residue::Water => match name.trim_matches(|c: char| c.is_ascii_digit()) {
                "O" | "OW" | "OH" => Some("O"),
                "H" | "HW" | "HH" => Some("H"),
                "D" => Some("D"),
                _ => None,
            },
            Residue::Haem => haem(name),
            Residue::Atom(symbol, other) => {
                (bare(name).eq_ignore_ascii_case(symbol) || name == other).then_some(symbol)
            }
        }
    }
}

const AMINO: &str = "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL ASH GLH LYN HID HIE HIP HSD HSE HSP \
    CYX CYM ACE NME NMA NH2";
const SELENO: &str = "MSE SEC";
const WATER: &str = "HOH WAT H2O DOD TIP TIP3 TIP4 TIP5 TP3 TP4 TP5 T3P T4P SOL SPC SPCE";
const HAEM: &str = "HEM HEME HEC HEA HEB";
const BASES: &str = "ADE CYT GUA THY URA";

/// Symbols, and CHARMM's names where they differ.
const ATOMS: [(&str, &str); 29] = [
    ("Li", "LIT"),
    ("Na", "SOD"),
    ("K", "POT"),
    ("Rb", "RUB"),
    ("Cs", "CES"),
    ("Mg", "MG"),
    ("Ca", "CAL"),
    ("Sr", "SR"),
    ("Ba", "BAR"),
    ("F", "F"),
    ("Cl", "CLA"),
    ("Br", "BR"),
    ("I", "IOD"),
    ("Mn", "MN"),
    ("Fe", "FE"),
    ("Co", "CO"),
    ("Ni", "NI"),
    ("Cu", "CU"),
    ("Zn", "ZN"),
    ("Ag", "AG"),
    ("Cd", "CAD"),
    ("Pt", "PT"),
    ("Au", "AU"),
    ("Hg", "HG"),
    ("Pb", "PB"),
    ("Al", "AL"),
    ("Ar", "AR"),
    ("Kr", "KR"),
    ("Xe", "XE"),
];

/// Without a charge: `NA+`, `CA2`.
fn bare(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || "+-".contains(c))
}

/// AMBER's names of amino acids at the ends of a chain: `NALA`, `CALA`.
fn is_terminal(name: &str) -> bool {
    let inner = name.strip_prefix(['N', 'C']).filter(|inner| inner.len() == 3);
    inner.is_some_and(|inner| AMINO.split(' ').any(|known| known == inner))
}

/// `A`, `DA`, `RA`, also at an end of the chain: `DA5`, `DA3`, `DAN`; or CHARMM's.
fn is_nucleic(name: &str) -> bool {
    let inner = name.strip_suffix(['5', '3', 'N']).unwrap_or(name);
    let base = inner.strip_prefix(['D', 'R']).unwrap_or(inner);
    ["A", "C", "G", "U", "T", "I"].contains(&base) || BASES.split(' ').any(|known| known == name)
}

/// Letters between digits: the element, then how far from the backbone (α, β, γ, δ, ε, ζ, η).
fn amino(name: &str) -> Option<&'static str> {
    let letters = name.trim_matches(|c: char| c.is_ascii_digit());
    let (first, place) = (letters.get(..1)?, letters.get(1..)?);
    let (symbol, places) = match first {
        "C" => ("C", " A B G D E Z H"),
        "N" => ("N", " D E Z H"),
        "O" => ("O", " G D E H T C XT"),
        "S" => ("S", "G D"),
        "H" => ("H", " A B G D E Z H N T XT"),
        "D" => ("D", " A B G D E Z H N T XT"),
        _ => return None,
    };
    places.split(' ').find(|known| *known == place).map(|_| symbol)
}

/// All names but the phosphorus have a digit; primes may be stars.
fn nucleic(name: &str) -> Option<&'static str> {
    if name == "P" {
        return Some("P");
    }
    let numbered = name.bytes().any(|byte| byte.is_ascii_digit());
    let letters: String = name.chars().filter(|c| !c.is_ascii_digit() && !"'*\"".contains(*c)).collect();
    let symbol = match letters.as_str() {
        "O" | "OP" | "OT" => "O",
        "C" | "CM" => "C",
        "N" => "N",
        "H" | "HO" | "HT" | "HM" | "HOP" => "H",
        "D" | "DO" => "D",
        _ => return None,
    };
    numbered.then_some(symbol)
}

/// `NA` to `ND`, `CHA`, `CMA`, `CAA`, `C1A`, `O1A`, and hydrogens.
fn haem(name: &str) -> Option<&'static str> {
    let letters = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let (first, rest) = (letters.get(..1)?, letters.get(1..)?);
    let begins = |with: &str| rest.chars().next().is_some_and(|c| with.contains(c));
    match first {
        _ if name == "FE" => Some("Fe"),
        "N" if ["A", "B", "C", "D"].contains(&rest) => Some("N"),
        "C" if begins("1234") || (rest.len() > 1 && begins("HMABG")) => Some("C"),
        "O" if begins("12") => Some("O"),
        "H" if begins("HMAB12") => Some("H"),
        _ => None,
    }
}
