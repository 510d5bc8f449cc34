//! Several programs in one job: `-n 2 one : -n 4 other`, as other systems' `mpiexec` has it.

use std::ffi::{OsStr, OsString};

/// A program of a job, with its own arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// How many ranks run it.
    pub ranks: u32,
    /// Its name and its arguments.
    pub words: Vec<OsString>,
}

/// What stands between programs.
pub const BETWEEN: &str = ":";

/// The programs of a command line, the first of which has so many ranks.
///
/// # Errors
/// If one has no name or no number of ranks, or another option stands before it.
pub fn parts(
    first: u32,
    words: &[OsString],
    count: fn(&str) -> Result<u32, String>,
) -> Result<Vec<Part>, String> {
    let mut all = words.split(|word| word == BETWEEN);
    let program = all.next().unwrap_or_default().to_vec();
    let own = Part { ranks: first, words: program };
    let others = all.map(|words| part(words, count));
    [Ok(own)].into_iter().chain(others).map(|part| part.and_then(named)).collect()
}

fn named(part: Part) -> Result<Part, String> {
    if part.words.is_empty() { Err("there is no program beside a `:`".into()) } else { Ok(part) }
}

/// One behind a `:`. What concerns the job stands before the first program.
fn part(words: &[OsString], count: fn(&str) -> Result<u32, String>) -> Result<Part, String> {
    let is_count = |word: &OsStr| ["-n", "-np", "--np", "--n"].iter().any(|own| word == *own);
    let (mut ranks, mut words) = (None, words);
    while let [word, rest @ ..] = words {
        if word == "--" {
            words = rest;
            break;
        }
        if !word.as_encoded_bytes().starts_with(b"-") {
            break;
        }
        let [value, rest @ ..] = rest else { return Err(format!("{}: give a value", word.display())) };
        if !is_count(word) {
            let word = word.display();
            return Err(format!(
                "{word}: only -n RANKS may stand behind a `:`, other options before the first program"
            ));
        }
        ranks = Some(count(&value.to_string_lossy())?);
        words = rest;
    }
    let ranks = ranks.ok_or("each program behind a `:` needs its number of ranks: `: -n RANKS PROGRAM`")?;
    Ok(Part { ranks, words: words.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u32, String)>, String> {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        let count = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
        let parts = parts(2, &words, count)?;
        let words = |part: Part| part.words.join(OsStr::new(" ")).into_string().expect("letters");
        Ok(parts.into_iter().map(|part| (part.ranks, words(part))).collect())
    }

    #[test]
    fn programs_have_their_ranks_and_arguments() {
        let of = |ranks: u32, words: &str| (ranks, words.to_owned());
        assert_eq!(read("one -x y").unwrap(), [of(2, "one -x y")]);
        assert_eq!(read("one : -n 3 two -n 5").unwrap(), [of(2, "one"), of(3, "two -n 5")]);
        assert_eq!(
            read("one a : -np 1 -- -two : --np 4 three").unwrap(),
            [of(2, "one a"), of(1, "-two"), of(4, "three")]
        );
        for (wrong, said) in [
            (":", "no program"),
            ("one :", "number of ranks"),
            ("one : two", "number of ranks"),
            ("one : -n 2", "no program"),
            ("one : -n", "give a value"),
            ("one : -n two three", "no number"),
            ("one : -wdir /tmp -n 2 two", "before the first program"),
        ] {
            assert!(read(wrong).unwrap_err().contains(said), "{wrong}");
        }
    }
}
