//! The bytes of a file, and what is said of damaged ones.

use super::*;

const BODY: &[u8] = b"a state";
const HEADER: usize = 28;

/// The bytes of a file that was put in place.
fn file() -> Vec<u8> {
    let mut disk = calm(1);
    replace(&mut disk, "a", &[&BODY[..3], &BODY[3..]]).unwrap();
    disk.read("a").unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut disk = calm(1);
    disk.write("a", &[bytes]).unwrap();
    read_checked(&mut disk, "a")
}

fn header(what: &'static str) -> Result<Vec<u8>, ReadError> {
    Err(ReadError::Header { file: "a".into(), what })
}

#[test]
fn the_bytes_are_fixed() {
    let bytes = file();
    assert_eq!(&bytes[..8], b"TALISDSK");
    assert_eq!(bytes[8..12], [1, 0, 0, 0]);
    assert_eq!(bytes[12..16], crc32fast::hash(BODY).to_le_bytes());
    assert_eq!(bytes[16..24], [7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[24..28], crc32fast::hash(&bytes[..24]).to_le_bytes());
    assert_eq!(&bytes[28..], BODY);
    assert_eq!(read(&bytes).unwrap(), BODY);
}

#[test]
fn an_empty_body_is_a_body() {
    let mut disk = calm(1);
    replace(&mut disk, "a", &[]).unwrap();
    assert!(read_checked(&mut disk, "a").unwrap().is_empty());
    assert_eq!(disk.read("a").unwrap().len(), HEADER);
}

#[test]
fn every_altered_bit_is_noticed_and_told_where() {
    let whole = file();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = read(&bytes);
        match bit / 8 {
            0..8 => assert_eq!(found, header("it begins with other bytes"), "bit {bit}"),
            8..HEADER => assert_eq!(found, header("its checksum is wrong"), "bit {bit}"),
            _ => assert!(matches!(found, Err(ReadError::Sum { bytes: 7, .. })), "bit {bit}: {found:?}"),
        }
    }
}

#[test]
fn every_missing_and_every_further_byte_is_noticed() {
    let whole = file();
    for length in 0..HEADER {
        assert_eq!(read(&whole[..length]), header("it is too short"), "{length} bytes");
    }
    let of_length = |found| Err(ReadError::Length { file: "a".into(), found, written: 7 });
    for length in HEADER..whole.len() {
        assert_eq!(read(&whole[..length]), of_length((length - HEADER) as u64));
    }
    assert_eq!(read(&[&whole[..], b"x"].concat()), of_length(8));
}

#[test]
fn sectors_of_zeros_are_noticed_wherever_they_are() {
    let mut disk = calm(1);
    replace(&mut disk, "a", &[&[9; 4000]]).unwrap();
    let whole = disk.read("a").unwrap();
    for sector in 0..whole.len().div_ceil(512) {
        let mut bytes = whole.clone();
        bytes.chunks_mut(512).nth(sector).unwrap().fill(0);
        assert!(read(&bytes).is_err(), "sector {sector}");
    }
}

#[test]
fn errors_say_what_is_wrong_where_and_what_to_do() {
    let text = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    let mut bytes = file();
    *bytes.last_mut().unwrap() ^= 1;
    let (found, written) = (crc32fast::hash(&bytes[HEADER..]), crc32fast::hash(BODY));
    let sum = format!(
        "a is damaged somewhere in the 7 bytes after its header: their checksum is {found:08x}, it was {written:08x} \
         when they were written; it cannot be used"
    );
    assert_eq!(text(&bytes), sum);
    bytes[8] = 3;
    let sum = crc32fast::hash(&bytes[..24]);
    bytes[24..HEADER].copy_from_slice(&sum.to_le_bytes());
    let version =
        "a has version 3 of the format, this program reads versions 1 and 2; use the program that wrote it";
    assert_eq!(text(&bytes), version);
    let missing = read_checked(&mut calm(1), "b").unwrap_err().to_string();
    assert_eq!(missing, "cannot read b: there is no such file");
}
