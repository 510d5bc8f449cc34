//! Values of options that are numbers, addresses or switches: who writes something else is told what is wanted.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::str::FromStr;

use clap::Arg;

/// Reads a whole number; `wanted` says of what, and from where to where.
pub fn whole<N: FromStr>(
    wanted: &'static str,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| text.parse().map_err(|_| format!("write {wanted}, in decimal digits"))
}

/// Reads an address of a host.
///
/// # Errors
/// The text is none; the message says how one is written.
pub fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "write an IP address, for example 192.168.1.5 or fd00::5".to_owned())
}

/// Reads whether something is to be: the value of a variable, as the option itself has none.
///
/// # Errors
/// The text says neither; the message says how it is written.
pub fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" | "y" | "t" => Ok(true),
        "" | "0" | "false" | "no" | "off" | "n" | "f" => Ok(false),
        _ => Err("write 1 or 0".into()),
    }
}

/// `--nodes -1` says a number of nodes, if a wrong one, and no option of the name `-1`: such words become one, `--nodes=-1`.
pub fn joined<'a>(
    words: impl IntoIterator<Item = OsString>,
    options: impl Iterator<Item = &'a Arg>,
) -> Vec<OsString> {
    let takes = options.filter(|option| option.get_action().takes_values());
    let names: Vec<String> = takes.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
    let mut joined: Vec<OsString> = Vec::new();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        if word == "--" {
            joined.push(word);
            break;
        }
        match joined.last_mut() {
            Some(last) if is_negative(&word) && names.iter().any(|name| *last == **name) => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined.extend(words);
    joined
}

fn is_negative(word: &OsStr) -> bool {
    matches!(word.as_encoded_bytes(), [b'-', b'0'..=b'9' | b'.', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_an_option_with_a_value_is_its_value() {
        let options =
            [Arg::new("n").long("nodes"), Arg::new("p").long("quiet").action(clap::ArgAction::SetTrue)];
        let read = |words: &str| {
            let words = words.split(' ').map(OsString::from);
            joined(words, options.iter()).join(OsStr::new(" ")).into_string().expect("letters")
        };
        for (words, expected) in [
            ("p --nodes -1 --quiet -1", "p --nodes=-1 --quiet -1"),
            ("p --nodes -x --nodes", "p --nodes -x --nodes"),
            ("p --nodes -.5s", "p --nodes=-.5s"),
            ("p -- --nodes -1", "p -- --nodes -1"),
        ] {
            assert_eq!(read(words), expected);
        }
    }
}
