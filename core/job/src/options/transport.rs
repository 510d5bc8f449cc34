//! `--transport`: its words are those of the table of transports.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use talisman_base::transport::{TRANSPORTS, TransportChoice};

/// What [`TransportChoice::Mixed`] is called, and what it is.
const MIXED: (&str, &str) =
    ("mixed", "For testing: within a host, shared memory for every other pair of nodes, TCP for the rest");

/// The line in the help of a program.
pub fn help() -> String {
    let names: Vec<&str> = TRANSPORTS.iter().map(|row| row.name).collect();
    format!("How nodes are linked: {} or {}", names.join(", "), MIXED.0)
}

/// Takes the name of a transport, and no other word.
pub fn parser() -> impl TypedValueParser<Value = TransportChoice> {
    let rows = TRANSPORTS.iter().map(|row| (row.name, row.help)).chain([MIXED]);
    let values = rows.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| named(&name))
}

/// `name` is one of those that are possible.
fn named(name: &str) -> TransportChoice {
    let row = TRANSPORTS.iter().find(|row| row.name == name);
    row.map_or(TransportChoice::Mixed, |row| row.transport.into())
}

#[cfg(test)]
mod tests {
    use talisman_base::transport::Transport;

    use super::*;

    #[test]
    fn each_name_means_its_transport() {
        assert_eq!(named("tcp"), Transport::Tcp.into());
        assert_eq!(named("shm"), TransportChoice::default());
        assert_eq!(named(MIXED.0), TransportChoice::Mixed);
        assert!(TRANSPORTS.iter().all(|row| row.name != MIXED.0));
    }

    #[test]
    fn the_help_names_all() {
        assert!(TRANSPORTS.iter().all(|row| help().contains(row.name)), "{}", help());
    }
}
