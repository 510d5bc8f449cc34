//! Variables of the C library that each rank has one of: the library's own would be those of the process.
//!
//! A program that has a copy of one (a COPY relocation) uses that; for all others there is a place in the image.

use crate::LoadError;
use crate::scope::Scope;

/// A variable: its names, and its first value. Each has room for two words.
struct Variable {
    names: &'static [&'static str],
    value: usize,
}

const VARIABLES: &[Variable] = &[
    Variable { names: &["environ", "__environ", "_environ"], value: 0 },
    Variable { names: &["optarg"], value: 0 },
    Variable { names: &["optind"], value: 1 },
    Variable { names: &["opterr"], value: 1 },
    Variable { names: &["optopt"], value: '?' as usize },
    Variable { names: &["program_invocation_name", "__progname_full"], value: 0 },
    Variable { names: &["program_invocation_short_name", "__progname"], value: 0 },
    Variable { names: &["__libc_stack_end"], value: 0 },
    Variable { names: &["tzname", "__tzname"], value: 0 },
    Variable { names: &["timezone", "__timezone"], value: 0 },
    Variable { names: &["daylight", "__daylight"], value: 0 },
    Variable { names: &["signgam", "__signgam"], value: 0 },
];

/// Bytes for all of them.
pub const LEN: usize = VARIABLES.len() * ROOM;
/// Bytes for each.
const ROOM: usize = 16;

/// Where the variables of a rank are: offsets in the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// `char **environ`.
    pub environ: usize,
    /// `char *optarg`.
    pub optarg: usize,
    /// `int optind`.
    pub optind: usize,
    /// `int opterr`.
    pub opterr: usize,
    /// `int optopt`.
    pub optopt: usize,
    /// `char *program_invocation_name`.
    pub program_name: usize,
    /// `char *program_invocation_short_name`.
    pub program_short_name: usize,
    /// `void *__libc_stack_end`: the stack pointer of the program's first instruction.
    pub stack_end: usize,
    /// `char *tzname[2]`.
    pub zone_names: usize,
    /// `long timezone`.
    pub zone_seconds: usize,
    /// `int daylight`.
    pub has_summer_time: usize,
    /// `int signgam`.
    pub sign_of_gamma: usize,
}

/// The places of all variables.
#[derive(Clone, Debug)]
pub struct Cells {
    /// Offset of the first one in the image.
    start: usize,
    /// Where each one is: in its cell, or in an object that has a copy.
    places: Vec<usize>,
}

impl Cells {
    /// `start`: where room for [`LEN`] bytes is.
    pub fn new(start: usize, scope: &Scope<'_>, objects: &[usize]) -> Result<Cells, LoadError> {
        let mut places = Vec::new();
        for (i, variable) in VARIABLES.iter().enumerate() {
            let mut place = start + i * ROOM;
            for name in variable.names {
                if let Some(copy) = scope.find(name.as_bytes(), None, None, true)? {
                    place = objects[copy.object].wrapping_add(copy.symbol.value);
                    break;
                }
            }
            places.push(place);
        }
        Ok(Cells { start, places })
    }

    /// Where the variable of this name is.
    pub fn place(&self, name: &[u8]) -> Option<usize> {
        number(name).map(|i| self.places[i])
    }

    /// Where its first value is, from which copies are made.
    pub fn source(&self, name: &[u8]) -> Option<usize> {
        number(name).map(|i| self.start + i * ROOM)
    }

    /// Places and first values.
    pub fn values(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        VARIABLES.iter().enumerate().map(|(i, variable)| (self.start + i * ROOM, variable.value))
    }

    pub fn all(&self) -> Variables {
        let at = |name: &str| self.place(name.as_bytes()).unwrap_or_default();
        Variables {
            environ: at("environ"),
            optarg: at("optarg"),
            optind: at("optind"),
            opterr: at("opterr"),
            optopt: at("optopt"),
            program_name: at("program_invocation_name"),
            program_short_name: at("program_invocation_short_name"),
            stack_end: at("__libc_stack_end"),
            zone_names: at("tzname"),
            zone_seconds: at("timezone"),
            has_summer_time: at("daylight"),
            sign_of_gamma: at("signgam"),
        }
    }
}

fn number(name: &[u8]) -> Option<usize> {
    VARIABLES.iter().position(|variable| variable.names.iter().any(|own| own.as_bytes() == name))
}
