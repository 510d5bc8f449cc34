//! Reads the atoms and the periodic box of a PDB file.
//!
//! The format is one of fixed columns (Protein Data Bank Contents Guide 3.3), and few record types are needed here; so this
//! is a column reader of its own (`columns.rs`). The library for the format, `pdbtbx` 0.12, takes the `CA` of alanine for calcium and the
//! `CL1` of a ligand for carbon where the element columns are blank, refuses hybrid-36 serials and lines that end after the
//! coordinates, as those of large solvated systems do, and panics at a `CRYST1` without a space group.
//!
//! Read are `CRYST1` (an orthorhombic box is required; several must be the same), `ATOM` and `HETATM`, of several models the first. Serial
//! numbers are ignored, so they may overflow (`*****`, hybrid-36). The element is that of columns 77-78; where they are blank it comes
//! from the names, if these are certain (`names.rs`). Of alternate locations the likeliest counts (`locations.rs`). What was left out is
//! said; what is not certain is an error with its line.

use std::path::Path;

use super::columns::{self, Fault, columns, text};
use super::elements::{self, Element};
use super::locations;
use super::names::{self, Names};

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// Sides of the periodic box (Å).
    pub size: [f64; 3],
    pub atoms: Vec<PdbAtom>,
    /// What of the file was left out, to be said: a sentence each.
    pub notes: Vec<String>,
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

/// Reads a file.
pub fn read(path: &Path) -> Result<Structure, PdbError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| PdbError::Unreadable { path: name.clone(), source })?;
    parse(&name, &bytes)
}

/// Reads a file's bytes; `path` is for the messages.
pub fn parse(path: &str, bytes: &[u8]) -> Result<Structure, PdbError> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(PdbError::Empty { path: path.into() });
    }
    let at_line = |(line, fault)| PdbError::Line { path: path.into(), line, fault };
    let mut file = first_model(bytes).map_err(at_line)?;
    if file.records.is_empty() {
        return Err(PdbError::Foreign { path: path.into(), begin: beginning(bytes) });
    }
    let (size, _) = file.size.ok_or_else(|| PdbError::NoBox { path: path.into() })?;
    let left_out = locations::choose(&mut file.records).map_err(at_line)?;
    if left_out > 0 {
        file.notes
            .push(format!("of alternate locations the likeliest counts; {left_out} others are left out"));
    }
    let atoms = atoms(&file.records).map_err(at_line)?;
    Ok(Structure { size, atoms, notes: file.notes })
}

/// An `ATOM` or `HETATM` record.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Its line, counted from 1.
    pub line: usize,
    pub names: Names,
    /// Column 17: blank, or a letter or digit of an alternate location.
    pub location: u8,
    /// Columns 22-27: chain, residue number and insertion code.
    pub place: [u8; 6],
    /// Columns 73-76.
    pub segment: [u8; 4],
    pub occupancy: f64,
    symbol: Option<[u8; 2]>,
    at: [f64; 3],
}

impl Record {
    /// Whether this is one of several locations of an atom.
    pub fn is_alternate(&self) -> bool {
        self.location != b' '
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The box and the atoms of the first model.
#[derive(Default)]
struct File {
    /// The box, and its line.
    size: Option<([f64; 3], usize)>,
    records: Vec<Record>,
    notes: Vec<String>,
}

fn first_model(bytes: &[u8]) -> Result<File, (usize, Fault)> {
    let mut file = File::default();
    let mut ended = None;
    for (number, line) in lines(bytes).enumerate().map(|(number, line)| (number + 1, line)) {
        let at_line = |fault| (number, fault);
        match (kind(line).map_err(at_line)?, ended) {
            (Kind::Box, None) => file.take_box(number, line).map_err(at_line)?,
            (Kind::Atom, None) => file.records.push(record(number, line).map_err(at_line)?),
            (Kind::Model, None) if !file.records.is_empty() => ended = Some(number),
            (Kind::End, None) => ended = Some(number),
            (Kind::Atom, Some(end)) => {
                file.notes
                    .push(format!("of several models the first counts; what follows line {end} is left out"));
                break;
            }
            _ => {}
        }
    }
    Ok(file)
}

impl File {
    fn take_box(&mut self, number: usize, line: &[u8]) -> Result<(), Fault> {
        let size = box_of(line)?;
        match self.size {
            Some((first, line)) if first != size => return Err(Fault::OtherBox { first: line }),
            Some(_) => return Ok(()),
            None => self.size = Some((size, number)),
        }
        let group = text(columns(line, 56, 66)).to_ascii_uppercase();
        if !["", "P 1", "P1"].contains(&group.as_str()) {
            self.notes.push(format!("the space group is `{group}`, but only the atoms of the file are simulated, without its symmetric copies"));
        }
        Ok(())
    }
}

/// Lines end with LF, CR LF, or CR alone.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    bytes.split(move |byte| *byte == end).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

enum Kind {
    Box,
    Atom,
    Model,
    End,
    Other,
}

fn kind(line: &[u8]) -> Result<Kind, Fault> {
    let name = columns(line, 1, 6).to_ascii_uppercase();
    match name.trim_ascii_end() {
        b"CRYST1" => Ok(Kind::Box),
        b"HETATM" => Ok(Kind::Atom),
        b"MODEL" => Ok(Kind::Model),
        b"ENDMDL" | b"END" => Ok(Kind::End),
        // A serial number of six digits may begin in column 6.
        name if name.starts_with(b"ATOM") && !name[4..].iter().any(u8::is_ascii_alphabetic) => Ok(Kind::Atom),
        _ => {
            let begin = line.trim_ascii_start();
            let indented =
                begin.len() < line.len() && (begin.starts_with(b"ATOM  ") || begin.starts_with(b"HETATM"));
            if indented { Err(Fault::Indented) } else { Ok(Kind::Other) }
        }
    }
}

fn beginning(bytes: &[u8]) -> String {
    let line = lines(bytes).next().unwrap_or(bytes);
    line.iter().take(24).flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

fn box_of(line: &[u8]) -> Result<[f64; 3], Fault> {
    let number = |what, from, to| columns::number(line, what, from, to);
    let sides = [number("side a", 7, 15)?, number("side b", 16, 24)?, number("side c", 25, 33)?];
    let angles = [number("α", 34, 40)?, number("β", 41, 47)?, number("γ", 48, 54)?];
    if let Some(side) = sides.into_iter().find(|side| *side <= 0.0) {
        return Err(Fault::Side { side });
    }
    if let Some(angle) = angles.into_iter().find(|angle| *angle != 90.0) {
        return Err(Fault::Angle { angle });
    }
    if sides == [1.0; 3] { Err(Fault::NoSides) } else { Ok(sides) }
}

fn record(number: usize, line: &[u8]) -> Result<Record, Fault> {
    let at = columns::coordinates(line)?;
    let location = line[16];
    let blank = columns(line, 55, 60).trim_ascii().is_empty();
    let occupancy = if blank { 1.0 } else { columns::number(&padded::<60>(line, 1), "occupancy", 55, 60)? };
    Ok(Record {
        line: number,
        names: Names { atom: padded(line, 13), residue: padded(line, 18) },
        location,
        place: padded(line, 22),
        segment: padded(line, 73),
        occupancy,
        symbol: columns::symbol(line)?,
        at,
    })
}

/// So many columns, blank where the line has none.
fn padded<const N: usize>(line: &[u8], from: usize) -> [u8; N] {
    let there = columns(line, from, from + N - 1);
    std::array::from_fn(|place| there.get(place).copied().unwrap_or(b' '))
}

fn atoms(records: &[Record]) -> Result<Vec<PdbAtom>, (usize, Fault)> {
    let unnamed = records.iter().filter(|record| record.symbol.is_none()).map(|record| &record.names);
    let mut symbol = names::symbols(unnamed);
    let atom = |record: &Record| {
        let element = element(record, &mut symbol).map_err(|fault| (record.line, fault))?;
        Ok(PdbAtom { element, at: record.at })
    };
    records.iter().map(atom).collect()
}

fn element(
    record: &Record,
    symbol: &mut impl FnMut(&Names) -> Option<&'static str>,
) -> Result<&'static Element, Fault> {
    if let Some(symbol) = record.symbol.map(|symbol| text(&symbol)) {
        return elements::find(&symbol).ok_or(Fault::UnknownElement { symbol });
    }
    let (name, residue) = (text(&record.names.atom), text(&record.names.residue));
    match symbol(&record.names) {
        Some(symbol) => elements::find(symbol).ok_or(Fault::NoParameters { symbol, name, residue }),
        None => Err(Fault::NoElement { name, residue }),
    }
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
        assert_eq!(read.notes, [""; 0]);
        let hybrid = line.replace("*****", "A0000");
        assert_eq!(parsed(&(BOX.to_string() + &hybrid)).expect("well formed"), read);
    }

    #[test]
    fn of_several_models_the_first_counts_and_that_is_said() {
        let models = [
            format!("{BOX}MODEL        1\n{NITROGEN}ENDMDL\nMODEL        2\n{NITROGEN}ENDMDL\n"),
            format!("{BOX}MODEL        1\n{NITROGEN}MODEL        2\n{NITROGEN}"),
            format!("{BOX}{NITROGEN}END\n{BOX}{NITROGEN}END\n"),
        ];
        for text in models {
            let read = parsed(&text).expect("well formed");
            assert_eq!((read.atoms.len(), read.notes.len()), (1, 1), "{text}");
            assert!(read.notes[0].contains("several models"), "{:?}", read.notes);
        }
        let one = parsed(&format!("{BOX}MODEL        1\n{NITROGEN}ENDMDL\nEND\n")).expect("well formed");
        assert_eq!((one.atoms.len(), one.notes.len()), (1, 0));
    }

    /// `x` of the atoms that count, and how many were left out, of atoms with location, residue, insertion code and occupancy.
    fn located(atoms: &[(&str, char, &str, char, f64)]) -> Result<(Vec<f64>, usize), String> {
        let lines = atoms.iter().enumerate().map(|(x, (name, location, residue, code, occupancy))| {
            format!("ATOM  {x:>5} {name:<4}{location}{residue:<3} A   1{code}   {x:4}.000   2.000   3.000{occupancy:6.2}  0.00\n")
        });
        let read = parsed(&(BOX.to_string() + &lines.collect::<String>()))?;
        let left_out = read.notes.first().map_or(0, |note| {
            let words = note.split(' ').find_map(|word| word.parse().ok());
            words.expect("a note with a number")
        });
        Ok((read.atoms.iter().map(|atom| atom.at[0]).collect(), left_out))
    }

    #[test]
    fn of_alternate_locations_the_likeliest_counts() {
        let cases: [(&[_], _); 7] = [
            (&[(" CA", 'A', "ALA", ' ', 0.4), (" CA", 'B', "ALA", ' ', 0.6)], (vec![1.0], 1)),
            (&[(" CA", 'B', "ALA", ' ', 0.5), (" CA", 'C', "ALA", ' ', 0.5)], (vec![0.0], 1)),
            (&[(" CA", '1', "ALA", ' ', 0.3), (" CB", '2', "ALA", ' ', 0.2)], (vec![0.0, 1.0], 0)),
            (&[(" CA", ' ', "ALA", ' ', 0.3), (" CA", 'B', "ALA", ' ', 0.7)], (vec![1.0], 1)),
            (&[(" CA", 'A', "ALA", ' ', 0.3), (" CA", 'B', "ALA", 'A', 0.7)], (vec![0.0, 1.0], 0)),
            (&[(" CA", ' ', "ALA", ' ', 1.0), (" CA", ' ', "ALA", ' ', 1.0)], (vec![0.0, 1.0], 0)),
            (
                // One residue or another, not a mixture of both.
                &[
                    (" CB", 'A', "SER", ' ', 0.3),
                    (" OG", 'A', "SER", ' ', 0.3),
                    (" CB", 'B', "ALA", ' ', 0.7),
                    (" N", ' ', "ALA", ' ', 1.0),
                ],
                (vec![2.0, 3.0], 2),
            ),
        ];
        for (atoms, expected) in cases {
            assert_eq!(located(atoms), Ok(expected), "{atoms:?}");
        }
        let twice =
            located(&[(" CA", 'A', "ALA", ' ', 0.4), (" CA", 'A', "ALA", ' ', 0.6)]).expect_err("which one?");
        assert!(twice.contains("line 3") && twice.contains("as in line 2"), "{twice}");
    }

    #[test]
    fn line_ends_marks_and_other_records_do_not_matter() {
        let plain = format!(
            "{BOX}{NITROGEN}CONECT    1    2\nANISOU    1  N   MET A   1     1111   2222   3333      0      0      0       N\nTER\n{BOX}END\n"
        );
        let read = parsed(&plain).expect("well formed");
        assert_eq!((read.atoms.len(), read.notes.len()), (1, 0));
        for same in [
            plain.replace('\n', "\r\n"),
            plain.replace('\n', "\r"),
            format!("\u{feff}{plain}"),
            plain.to_lowercase(),
        ] {
            assert_eq!(parsed(&same), Ok(read.clone()), "{same}");
        }
        let marked = parsed(&format!("\u{feff}{BOX}{NITROGEN}")).expect("well formed");
        assert_eq!(marked.atoms, read.atoms);
        assert_eq!(
            parsed(&plain.replacen("ATOM      1", "ATOM 100000", 1)),
            Ok(read),
            "a serial from column 6 on"
        );
    }

    #[test]
    fn symmetry_is_said_to_be_left_out() {
        let read = parsed(&(BOX.replace("P 1   ", "P 21 21 21") + NITROGEN)).expect("well formed");
        assert!(
            read.notes[0].contains("`P 21 21 21") && read.notes[0].contains("symmetric copies"),
            "{:?}",
            read.notes
        );
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
        let message = symbol("HETATM", "CES", "CES").expect_err("caesium is not carbon");
        assert!(
            message.contains("no parameters for the element `Cs`, which the atom `CES` of `CES` is"),
            "{message}"
        );
        let message = symbol("ATOM", "CL1", "LIG").expect_err("not a known name");
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
            (format!("{BOX}{}", NITROGEN.replace("38.296", "38.2q6")), "is `38.2q6`, not a decimal number"),
            (format!("{BOX}{}", NITROGEN.replace("38.296", "   inf")), "not a decimal number"),
            (BOX.replace("  90.00 P", " 109.47 P") + NITROGEN, "line 1: the box has an angle of 109.47°"),
            (BOX.replace("30.000", "-3.000") + NITROGEN, "line 1: the box has a side of -3 Å"),
            (
                BOX.replace("30.000", " 1.000").replace("40.000", " 1.000").replace("50.000", " 1.000")
                    + NITROGEN,
                "1 × 1 × 1 Å",
            ),
            (format!("{BOX}{}", NITROGEN.replace("38.296", " 1e300")), "is `1e300`, not a decimal number"),
            (BOX.replace("30.000", " 1e300") + NITROGEN, "line 1: its side a (columns 7-15) is `1e300`"),
            (
                format!("{BOX}{}", NITROGEN.replace("ATOM      1", "ATOM  100000")),
                "line 2: its x (columns 31-38) is",
            ),
            (
                format!("{BOX}{}", NITROGEN.replace("ATOM   ", " ATOM  ")),
                "line 2: the record does not begin in column 1",
            ),
            (format!("{BOX}{}", NITROGEN.replace("  N\n", "   N\n")), "line 2: columns 76-80 are `   N `"),
            (
                format!("{BOX}{}", NITROGEN.replace("  1.00  0", "  x.00  0")),
                "line 2: its occupancy (columns 55-60)",
            ),
            (
                format!("{BOX}{NITROGEN}{}", BOX.replace("30.000", "31.000")),
                "line 3: this box differs from that of line 1",
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
    #[ignore = "its file is not part of the project: ../shared/data/5dfr_solv-cube_equil.pdb"]
    fn the_benchmark_structure_is_read_whole() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/5dfr_solv-cube_equil.pdb");
        let read = read(&path).expect("a standard file");
        assert_eq!((read.size, read.atoms.len()), ([62.23; 3], 23_558));
        let count = |symbol| read.atoms.iter().filter(|atom| atom.element.symbol == symbol).count();
        assert_eq!((count("O"), count("S")), (7023 + 158 + 19 + 14 + 16 + 12 + 6 + 9 + 4 + 2, 7));
    }
}
