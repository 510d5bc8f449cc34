//! Saying something where nothing may be allocated: in signal handlers and in allocators.

/// A part of a message.
pub(crate) enum Part<'a> {
    Text(&'a [u8]),
    Number(u64),
    /// In hexadecimal digits.
    Address(usize),
}

impl<'a, const N: usize> From<&'a [u8; N]> for Part<'a> {
    fn from(text: &'a [u8; N]) -> Self {
        Part::Text(text)
    }
}

impl From<u64> for Part<'_> {
    fn from(number: u64) -> Self {
        Part::Number(number)
    }
}

/// Writes a message to standard error, as one piece, with system calls alone.
pub(crate) fn say(parts: &[Part<'_>]) {
    let mut line = [0; 512];
    let len = write_line(&mut line, parts);
    // If nobody reads it there is nobody to tell.
    // SAFETY: a file descriptor of the process's, and bytes that live.
    unsafe { libc::write(2, line.as_ptr().cast(), len) };
}

/// Writes a message to memory; how many bytes. What has no room is cut.
pub(crate) fn write_line(line: &mut [u8], parts: &[Part<'_>]) -> usize {
    let mut len = 0;
    for part in parts {
        let mut digits = [0; 20];
        let text = match part {
            Part::Text(text) => text,
            Part::Number(number) => decimal(*number, &mut digits),
            Part::Address(address) => hexadecimal(*address, &mut digits),
        };
        let n = text.len().min(line.len() - len);
        line[len..len + n].copy_from_slice(&text[..n]);
        len += n;
    }
    len
}

fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

fn hexadecimal(mut address: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[address % 16];
        address /= 16;
        if address == 0 {
            at -= 2;
            digits[at..at + 2].copy_from_slice(b"0x");
            return &digits[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 4_096, u64::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
            let address = number as usize;
            assert_eq!(hexadecimal(address, &mut [0; 20]), format!("{address:#x}").as_bytes());
        }
    }
}
