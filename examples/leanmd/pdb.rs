//! Reads the atoms and the periodic box of a PDB file.
//!
//! The format is one of fixed columns (Protein Data Bank Contents Guide 3.3), and three record types are needed here; so this
//! is a column reader of its own rather than a library that builds chains, residues and bonds, and refuses files whose serials
//! overflow, as those of large solvated systems do.
//!
//! Read are `CRYST1` (an orthorhombic box is required), `ATOM` and `HETATM`. Of several models the first counts, of
//! alternate locations the blank one and `A`. Serial numbers are ignored, so they may overflow (`*****`, hybrid-36). The element
//! is that of columns 77-78; where they are blank it comes from the atom's name, which is certain for proteins, nucleic acids,
//! water and single-atom ions, and an error for anything else.

use std::path::Path;

use super::elements::{self, Element};

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// Sides of the periodic box (Å).
    pub size: [f64; 3],
    pub atoms: Vec<PdbAtom>,
}

/// One atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdbAtom {
    pub element: &'static Element,
    /// Position (Å), as the file has it: perhaps outside the box.
    pub at: [f64; 3],
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PdbError {
    #[error("cannot read `{path}`: {source}; check the path given to --pdb")]
    Unreadable { path: String, source: std::io::Error },
    #[error("`{path}` is empty; give a PDB file with CRYST1 and ATOM records")]
    Empty { path: String },
    #[error("`{path}` is not a PDB file: it has no ATOM or HETATM record, and begins with `{begin}`")]
    Foreign { path: String, begin: String },
    #[error(
        "`{path}` has no CRYST1 record, so the box is unknown; add one with the sides in Å, before the atoms"
    )]
    NoBox { path: String },
    #[error("`{path}`, line {line}: {fault}")]
    Line { path: String, line: usize, fault: Fault },
}

/// What is wrong with one line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("the line ends before column {column}, where its {what} ends; the file seems truncated")]
    Truncated { what: &'static str, column: usize },
    #[error("its {what} (columns {from}-{to}) is `{text}`, not a finite number")]
    NotANumber { what: &'static str, from: usize, to: usize, text: String },
    #[error("the box has a side of {side} Å; sides must be positive")]
    Side { side: f64 },
    #[error(
        "the box is 1 × 1 × 1 Å, which in PDB files stands for `none`; write the real sides of the box there"
    )]
    NoSides,
    #[error("the box has an angle of {angle}°; only boxes with three right angles can be simulated")]
    Angle { angle: f64 },
    #[error("there are no parameters for the element `{symbol}` (columns 77-78)")]
    UnknownElement { symbol: String },
    #[error("the element of the atom `{name}` is not certain from its name; write it in columns 77-78")]
    NoElement { name: String },
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Structure, PdbError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| PdbError::Unreadable { path: name.clone(), source })?;
    parse(&name, &bytes)
}

/// Reads a file's bytes; `path` is for the messages.
pub fn parse(path: &str, bytes: &[u8]) -> Result<Structure, PdbError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(PdbError::Empty { path: path.into() });
    }
    let (mut size, mut atoms) = (None, Vec::new());
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let at_line = |fault| PdbError::Line { path: path.into(), line: number + 1, fault };
        match record(line) {
            b"CRYST1" => size = Some(box_of(line).map_err(at_line)?),
            b"ATOM" | b"HETATM" => atoms.extend(atom_of(line).map_err(at_line)?),
            b"ENDMDL" | b"END" => break,
            _ => {}
        }
    }
    if atoms.is_empty() {
        return Err(PdbError::Foreign { path: path.into(), begin: beginning(bytes) });
    }
    let size = size.ok_or_else(|| PdbError::NoBox { path: path.into() })?;
    Ok(Structure { size, atoms })
}

fn record(line: &[u8]) -> &[u8] {
    line.get(..6).unwrap_or(line).trim_ascii_end()
}

fn beginning(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    line.iter().take(24).flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

fn box_of(line: &[u8]) -> Result<[f64; 3], Fault> {
    let sides =
        [number(line, "side a", 7, 15)?, number(line, "side b", 16, 24)?, number(line, "side c", 25, 33)?];
    let angles = [number(line, "α", 34, 40)?, number(line, "β", 41, 47)?, number(line, "γ", 48, 54)?];
    if let Some(side) = sides.into_iter().find(|side| *side <= 0.0) {
        return Err(Fault::Side { side });
    }
    if let Some(angle) = angles.into_iter().find(|angle| *angle != 90.0) {
        return Err(Fault::Angle { angle });
    }
    if sides == [1.0; 3] { Err(Fault::NoSides) } else { Ok(sides) }
}

/// The atom of a line; none if the line is an alternate location of an atom already read.
fn atom_of(line: &[u8]) -> Result<Option<PdbAtom>, Fault> {
    let at = [number(line, "x", 31, 38)?, number(line, "y", 39, 46)?, number(line, "z", 47, 54)?];
    if !matches!(line[16], b' ' | b'A') {
        return Ok(None);
    }
    Ok(Some(PdbAtom { element: element_of(line)?, at }))
}

/// The number in columns `from..=to`, counted from 1 as the format's description does.
fn number(line: &[u8], what: &'static str, from: usize, to: usize) -> Result<f64, Fault> {
    let field = line.get(from - 1..to).ok_or(Fault::Truncated { what, column: to })?;
    let text = String::from_utf8_lossy(field);
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| Fault::NotANumber { what, from, to, text: text.trim().into() })
}

fn element_of(line: &[u8]) -> Result<&'static Element, Fault> {
    let symbol = text(line.get(76..78).unwrap_or_default());
    if !symbol.is_empty() {
        return elements::find(&symbol).ok_or(Fault::UnknownElement { symbol });
    }
    let (name, residue) = (text(&line[12..16]), text(&line[17..20]));
    let guess = match ion(&name, &residue) {
        Some(symbol) => elements::find(symbol),
        None => metal(line).or_else(|| organic(&name)),
    };
    guess.ok_or(Fault::NoElement { name })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).trim().to_string()
}

/// The symbol of a residue of a single atom, which is named for its element: `NA`, `CL-`, or as CHARMM has it.
fn ion<'a>(name: &str, residue: &'a str) -> Option<&'a str> {
    let bare = |text: &'a str| text.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let symbol = match residue {
        "SOD" => "Na",
        "CLA" => "Cl",
        "POT" => "K",
        "CAL" => "Ca",
        "CES" => "Cs",
        _ => bare(residue),
    };
    let alone = name == residue || name.trim_end_matches(|c: char| !c.is_ascii_alphabetic()) == bare(residue);
    alone.then_some(symbol)
}

/// A two-letter element begins in column 13 of a `HETATM`, one of a single letter in column 14.
fn metal(line: &[u8]) -> Option<&'static Element> {
    let name = &line[12..16];
    let alone = record(line) == b"HETATM" && !name[2].is_ascii_alphabetic();
    let symbol = text(&name[..2]);
    let certain = ["FE", "ZN", "MG", "MN", "CU", "CL", "BR", "SE"].contains(&symbol.as_str());
    if alone && certain { elements::find(&symbol) } else { None }
}

/// In proteins, nucleic acids and water the first letter of a name is the element.
fn organic(name: &str) -> Option<&'static Element> {
    let first = name.trim_start_matches(|c: char| c.is_ascii_digit()).get(..1)?;
    if "HDCNOSP".contains(first) { elements::find(first) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str = "CRYST1   30.000   40.000   50.000  90.00  90.00  90.00 P 1           1\n";
    const NITROGEN: &str = "ATOM      1  N   MET A   1      38.296  20.158  39.260  1.00  0.00           N\n";

    fn atom(record: &str, name: &str, residue: &str) -> String {
        format!("{record:<6}{:>5} {name:<4} {residue:<3} A   1    {:8.3}{:8.3}{:8.3}\n", 1, 1.0, 2.0, 3.0)
    }

    fn parsed(text: &str) -> Result<Structure, String> {
        parse("some.pdb", text.as_bytes()).map_err(|error| error.to_string())
    }

    fn symbol(record: &str, name: &str, residue: &str) -> Result<&'static str, String> {
        parsed(&(BOX.to_string() + &atom(record, name, residue))).map(|s| s.atoms[0].element.symbol)
    }

    #[test]
    fn columns_are_read_where_the_format_has_them() {
        let read = parsed(&format!("REMARK any\n{BOX}{NITROGEN}END\n")).expect("well formed");
        assert_eq!(read.size, [30.0, 40.0, 50.0]);
        assert_eq!(read.atoms.len(), 1);
        assert_eq!((read.atoms[0].element.symbol, read.atoms[0].at), ("N", [38.296, 20.158, 39.26]));
    }

    #[test]
    fn numbers_may_touch_and_serials_may_overflow() {
        let line = "ATOM  *****  O   HOH A   1    -100.000-200.000-300.000  1.00  0.00           O\r\n";
        let read = parsed(&(BOX.to_string() + line)).expect("well formed");
        assert_eq!(read.atoms[0].at, [-100.0, -200.0, -300.0]);
        let hybrid = line.replace("*****", "A0000");
        assert_eq!(parsed(&(BOX.to_string() + &hybrid)).expect("well formed"), read);
    }

    #[test]
    fn only_the_first_model_and_the_first_location_count() {
        let other = NITROGEN.replace(" MET", "BMET");
        let text =
            format!("{BOX}MODEL        1\n{NITROGEN}{other}ENDMDL\nMODEL        2\n{NITROGEN}ENDMDL\n");
        assert_eq!(parsed(&text).expect("well formed").atoms.len(), 1);
    }

    #[test]
    fn elements_come_from_names_where_the_columns_are_blank() {
        assert_eq!(symbol("ATOM", " CA", "ALA").as_deref(), Ok("C"));
        assert_eq!(symbol("ATOM", "CA", "ALA").as_deref(), Ok("C"), "a name that begins one column early");
        assert_eq!(symbol("HETATM", "CA", "CA").as_deref(), Ok("Ca"));
        assert_eq!(symbol("ATOM", "HG11", "VAL").as_deref(), Ok("H"));
        assert_eq!(symbol("ATOM", "1HB", "ALA").as_deref(), Ok("H"));
        assert_eq!(symbol("ATOM", "OW", "HOH").as_deref(), Ok("O"));
        assert_eq!(symbol("HETATM", "FE", "HEM").as_deref(), Ok("Fe"));
        assert_eq!(symbol("HETATM", "CL", "CL-").as_deref(), Ok("Cl"));
        assert_eq!(symbol("ATOM", "SOD", "SOD").as_deref(), Ok("Na"));
    }

    #[test]
    fn an_element_is_never_guessed() {
        assert!(symbol("HETATM", "CES", "CES").is_err(), "caesium is not carbon");
        let message = symbol("HETATM", "XE", "XEN").expect_err("not a known name");
        assert!(message.contains("line 2") && message.contains("columns 77-78"), "{message}");
        let unknown = NITROGEN.replace(" N\n", "Xx\n");
        let message = parsed(&(BOX.to_string() + &unknown)).expect_err("no such element");
        assert!(message.contains("no parameters for the element `Xx`"), "{message}");
    }

    #[test]
    fn each_fault_is_named_with_its_line() {
        let cases = [
            (String::new(), "is empty"),
            (" \n\n".into(), "is empty"),
            ("\u{1}\u{2}ELF\u{7f}".into(), "is not a PDB file"),
            ("data_5DFR\n_cell.length_a 62\n".into(), "begins with `data_5DFR`"),
            (NITROGEN.into(), "no CRYST1 record"),
            (BOX.into(), "no ATOM or HETATM record"),
            (format!("{BOX}{}", &NITROGEN[..50]), "line 2: the line ends before column 54"),
            (format!("{BOX}{}", &NITROGEN[..5]), "line 2: the line ends before column 38"),
            (
                format!("{BOX}{NITROGEN}{}", NITROGEN.replace("20.158", "   NaN")),
                "line 3: its y (columns 39-46) is `NaN`",
            ),
            (format!("{BOX}{}", NITROGEN.replace("38.296", "38.2q6")), "is `38.2q6`, not a finite number"),
            (format!("{BOX}{}", NITROGEN.replace("38.296", "   inf")), "not a finite number"),
            (BOX.replace("  90.00 P", " 109.47 P") + NITROGEN, "line 1: the box has an angle of 109.47°"),
            (BOX.replace("30.000", "-3.000") + NITROGEN, "line 1: the box has a side of -3 Å"),
            (
                BOX.replace("30.000", " 1.000").replace("40.000", " 1.000").replace("50.000", " 1.000")
                    + NITROGEN,
                "1 × 1 × 1 Å",
            ),
            (BOX[..30].to_string() + "\n" + NITROGEN, "line 1: the line ends before column 33"),
        ];
        for (text, expected) in cases {
            let message = parsed(&text).expect_err(&text);
            assert!(message.contains(expected), "`{message}` does not say `{expected}`");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_without_a_panic() {
        for seed in 0..200_u32 {
            let noise = (0..300_u32).map(|i| (i.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 13) as u8);
            let bytes: Vec<u8> = b"ATOM  ".iter().copied().chain(noise).collect();
            assert!(parse("noise", &bytes).is_err());
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = read(Path::new("no/such.pdb")).expect_err("there is none").to_string();
        assert!(message.contains("no/such.pdb") && message.contains("--pdb"), "{message}");
    }

    #[test]
    fn the_benchmark_structure_is_read_whole() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/5dfr_solv-cube_equil.pdb");
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            return;
        }
        let read = read(&path).expect("a standard file");
        assert_eq!((read.size, read.atoms.len()), ([62.23; 3], 23_558));
        let count = |symbol| read.atoms.iter().filter(|atom| atom.element.symbol == symbol).count();
        assert_eq!((count("O"), count("S")), (7023 + 158 + 19 + 14 + 16 + 12 + 6 + 9 + 4 + 2, 7));
    }
}
