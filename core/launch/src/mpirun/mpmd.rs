//! Several programs in one job: `-n 2 one : -n 4 other`, as other systems' `mpiexec` has it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction};

use super::words::as_options;

/// A program of a job, with its own arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How many ranks run it.
    pub ranks: u32,
    /// Variables that these have besides those of all.
    pub variables: Vec<OsString>,
    /// Where they begin, if not where all others do.
    pub folder: Option<PathBuf>,
    /// Its name and its arguments.
    pub words: Vec<OsString>,
}

/// What stands between programs.
pub const BETWEEN: &str = ":";

/// The programs of a command line, the first of which has so many ranks.
///
/// # Errors
/// If one has no name or no number of ranks, or an option of the whole job stands before it.
pub fn parts(
    first: u32,
    words: &[OsString],
    count: fn(&str) -> Result<u32, String>,
) -> Result<Vec<Part>, String> {
    let mut all = words.split(|word| word == BETWEEN);
    let program = all.next().unwrap_or_default().to_vec();
    let own = Part { ranks: first, words: program, ..Part::default() };
    let others = all.map(|words| part(words, count));
    [Ok(own)].into_iter().chain(others).map(|part| part.and_then(named)).collect()
}

fn named(part: Part) -> Result<Part, String> {
    if part.words.is_empty() { Err("there is no program beside a `:`".into()) } else { Ok(part) }
}

/// One behind a `:`. What concerns the job stands before the first program.
fn part(words: &[OsString], count: fn(&str) -> Result<u32, String>) -> Result<Part, String> {
    let option = |name: &'static str| Arg::new(name).action(ArgAction::Set);
    let options = [option("n").short('n'), option("x").short('x'), option("wdir").long("wdir")];
    let mut words = as_options(words.iter().cloned(), options.iter()).into_iter();
    let (mut part, mut ranks) = (Part::default(), None);
    while let Some(word) = words.next().filter(|word| word != "--") {
        if !["-n", "-x", "--wdir"].iter().any(|own| word == *own) {
            let word = word.display();
            return Err(format!(
                "{word}: options of the job stand before its first program, not behind a `:`"
            ));
        }
        let value = words.next().filter(|value| value != "--");
        let value = value.ok_or_else(|| format!("{}: give a value", word.display()))?;
        match word.as_encoded_bytes() {
            b"-n" => ranks = Some(count(&value.to_string_lossy())?),
            b"-x" => part.variables.push(value),
            _ => part.folder = Some(value.into()),
        }
    }
    part.ranks = ranks.ok_or("each program behind a `:` needs its number of ranks: `: -n RANKS PROGRAM`")?;
    part.words = words.collect();
    Ok(part)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

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
            ("one : --nodes 2 -n 2 two", "before its first program"),
            ("one : -n 2 -wdir", "give a value"),
        ] {
            assert!(read(wrong).unwrap_err().contains(said), "{wrong}");
        }
    }

    #[test]
    fn programs_have_their_own_folders_and_variables() {
        let words: Vec<OsString> =
            "one : -wdir /tmp -x A=1 -np 2 -env B 2 two -x y".split(' ').map(OsString::from).collect();
        let parts = parts(1, &words, |text| text.parse().map_err(|_| String::new())).unwrap();
        let [_, two] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!((two.ranks, &two.variables[..]), (2, &["A=1".into(), "B=2".into()][..]));
        assert_eq!((two.folder.as_deref(), two.words.len()), (Some("/tmp".as_ref()), 3));
    }
}
