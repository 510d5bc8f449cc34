//! The columns of a PDB file's records, counted from 1 as the format's description counts them.
//!
//! A field is read from its own columns only, and must look as it does there. A serial number of six digits, say, pushes what follows
//! one column to the right; of coordinates that fill their columns, plain numbers would still be read, but others than were written.

/// What is wrong with one line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("the record does not begin in column 1; its columns are shifted")]
    Indented,
    #[error("the line ends before column {column}, where its {what} ends; the file seems truncated")]
    Truncated { what: &'static str, column: usize },
    #[error("its {what} (columns {from}-{to}) is `{text}`, not a decimal number")]
    NotANumber { what: &'static str, from: usize, to: usize, text: String },
    #[error(
        "its {what} (columns {from}-{to}) is `{text}`, but the format has three decimals there, the last in column {to}; \
         a longer field before it, such as a serial number of six digits, may have shifted the columns"
    )]
    Shifted { what: &'static str, from: usize, to: usize, text: String },
    #[error("a coordinate fills its columns, and so does column 55 after them; the columns are shifted")]
    Overfull,
    #[error("the box has a side of {side} Å; sides must be positive")]
    Side { side: f64 },
    #[error(
        "the box is 1 × 1 × 1 Å, which in PDB files stands for `none`; write the real sides of the box there"
    )]
    NoSides,
    #[error("the box has an angle of {angle}°; only boxes with three right angles can be simulated")]
    Angle { angle: f64 },
    #[error("this box differs from that of line {first}; leave one CRYST1 record")]
    OtherBox { first: usize },
    #[error(
        "columns 76-80 are `{text}`, with no element where the format has it (columns 77-78, to the right)"
    )]
    Tail { text: String },
    #[error("there are no parameters for the element `{symbol}` (columns 77-78)")]
    UnknownElement { symbol: String },
    #[error("there are no parameters for the element `{symbol}`, which the atom `{name}` of `{residue}` is")]
    NoParameters { symbol: &'static str, name: String, residue: String },
    #[error(
        "the element of the atom `{name}` of `{residue}` is not certain from these names; write it in columns 77-78, to the right"
    )]
    NoElement { name: String, residue: String },
    #[error(
        "the atom `{name}` of `{residue}` has the alternate location `{location}` as in line {first}; which of them counts is not certain"
    )]
    Twice { name: String, residue: String, location: char, first: usize },
}

/// The columns `from..=to`, as far as the line has them.
pub fn columns(line: &[u8], from: usize, to: usize) -> &[u8] {
    line.get(from - 1..).map_or(&[], |rest| &rest[..rest.len().min(to + 1 - from)])
}

/// Columns as text, without blanks around it.
pub fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).trim().to_string()
}

/// The decimal number somewhere in the columns `from..=to`.
pub fn number(line: &[u8], what: &'static str, from: usize, to: usize) -> Result<f64, Fault> {
    if line.len() < to {
        return Err(Fault::Truncated { what, column: to });
    }
    let field = columns(line, from, to);
    decimal(field.trim_ascii()).ok_or_else(|| Fault::NotANumber { what, from, to, text: text(field) })
}

/// Columns of a coordinate.
const WIDTH: usize = 8;

/// The three coordinates (Å), each of 8 columns with 3 decimals.
pub fn coordinates(line: &[u8]) -> Result<[f64; 3], Fault> {
    let (x, y, z) = (coordinate(line, "x", 31)?, coordinate(line, "y", 39)?, coordinate(line, "z", 47)?);
    let after = columns(line, 55, 55);
    if [x.1, y.1, z.1].contains(&Form::Cut) && !after.is_empty() && after != b" " {
        return Err(Fault::Overfull);
    }
    Ok([x.0, y.0, z.0])
}

#[derive(PartialEq)]
enum Form {
    Whole,
    /// A number too long for its columns, without its last decimals, as programs for large systems write it.
    Cut,
}

fn coordinate(line: &[u8], what: &'static str, from: usize) -> Result<(f64, Form), Fault> {
    let to = from + WIDTH - 1;
    let value = number(line, what, from, to)?;
    let field = columns(line, from, to);
    match form(field) {
        Some(form) => Ok((value, form)),
        None => Err(Fault::Shifted { what, from, to, text: String::from_utf8_lossy(field).into_owned() }),
    }
}

fn form(field: &[u8]) -> Option<Form> {
    let point = field.iter().position(|byte| *byte == b'.')?;
    let whole = &field[..point];
    let filled = |whole: &[u8]| {
        let digits = whole.strip_prefix(b"-").unwrap_or(whole);
        whole.len() > WIDTH - 4 && !digits.starts_with(b"0") && !field.contains(&b' ')
    };
    match field.len() - point - 1 {
        3 if !field.ends_with(b" ") => Some(Form::Whole),
        0..=2 if filled(whole) => Some(Form::Cut),
        _ => None,
    }
}

/// Digits, with a point and a sign or without: nothing else is a number in a PDB file, neither `1e300` nor `inf`.
fn decimal(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let plain = digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let text = std::str::from_utf8(text).ok().filter(|_| plain)?;
    text.parse().ok()
}

/// The element's symbol in columns 77-78, if there is one. Columns 79-80 have a charge; of files older than these columns, 77-80 count
/// lines.
pub fn symbol(line: &[u8]) -> Result<Option<[u8; 2]>, Fault> {
    let at = |column: usize| *columns(line, column, column).first().unwrap_or(&b' ');
    let tail = [at(76), at(77), at(78), at(79), at(80)];
    let fault = || Fault::Tail { text: String::from_utf8_lossy(&tail).into_owned() };
    let [before, first, second, charge @ ..] = tail;
    if !charge.iter().all(|byte| byte.is_ascii_digit() || b" +-".contains(byte)) {
        return Err(fault());
    }
    match (first, second) {
        (b' ' | b'0'..=b'9', b' ' | b'0'..=b'9') => Ok(None),
        // To the left of its columns, or the second letter of one that begins in column 76?
        (_, b' ') if before.is_ascii_alphabetic() => Err(fault()),
        both => Ok(Some(both.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(coordinates: &str) -> Result<[f64; 3], Fault> {
        super::coordinates(format!("{:30}{coordinates}", "ATOM").as_bytes())
    }

    #[test]
    fn coordinates_stand_where_the_format_has_them() {
        assert_eq!(at("  38.296  20.158  39.260  1.00"), Ok([38.296, 20.158, 39.26]));
        assert_eq!(at("-100.000-200.000-300.000"), Ok([-100.0, -200.0, -300.0]));
        assert_eq!(at("   -.500   0.125    .250"), Ok([-0.5, 0.125, 0.25]));
    }

    #[test]
    fn shifted_coordinates_are_no_coordinates() {
        for shifted in [
            "   38.296  20.158  39.260  1.00",
            " 1000.250 1000.500 1000.750  1.00",
            " 1000.2501000.5001000.750  1.00",
            "1000.25001000.5001000.750  1.00",
            "  8.296  20.158  39.260  1.00 ",
            "234.2501000.5001000.750  1.00",
            "000.2501000.5001000.750  1.00",
            "01000.25  20.158  39.260",
            "  38.296  20.158   39.26",
            "  38.296  20.158 39.26  ",
            "  38.296  20.158  39.26 ",
            "  38.296  20.158   39260",
        ] {
            assert!(at(shifted).is_err(), "{shifted}");
        }
    }

    #[test]
    fn a_number_cut_off_is_told_from_one_that_pushes_the_next_aside() {
        assert_eq!(at("10000.12-2000.12  39.260  1.00"), Ok([10_000.12, -2000.12, 39.26]));
        assert_eq!(at("10000.1212345.10123456.1  1.00"), Ok([10_000.12, 12_345.1, 123_456.1]));
        assert_eq!(at("10000.1231234.2531234.750  1.00"), Err(Fault::Overfull));
        assert!(at("10000.123  20.158  39.260  1.00").is_err());
    }

    #[test]
    fn only_digits_make_a_number() {
        for text in
            ["   1e300", "     inf", "     NaN", "    -inf", "  0x10.0", " 1.2.345", "        ", "  38.2q6"]
        {
            assert!(at(&format!("{text}  20.158  39.260")).is_err(), "{text}");
            assert!(number(format!("{text} ").as_bytes(), "side a", 1, 9).is_err(), "{text}");
        }
    }

    #[test]
    fn a_symbol_stands_to_the_right_of_its_columns() {
        let tail = |tail: &str| symbol(format!("{:75}{tail}", "ATOM").as_bytes());
        assert_eq!(tail("  N"), Ok(Some(*b" N")));
        assert_eq!(tail(" CL1-"), Ok(Some(*b"CL")));
        assert_eq!(tail("X N1+"), Ok(Some(*b" N")));
        assert_eq!((tail(""), tail("M"), tail("     ")), (Ok(None), Ok(None), Ok(None)));
        assert_eq!((tail("N  70"), tail("N1234")), (Ok(None), Ok(None)), "a line's number");
        for shifted in ["  CL ", "   N ", "CL  ", "  HG"] {
            assert!(tail(shifted).is_err(), "{shifted}");
        }
    }
}
