//! Why a program cannot be run: what is wrong, with which file, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A program that is not run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system does not give us the file.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// `#!` at the beginning.
    #[error("{} is a script: run its interpreter ({interpreter}) with the script as an argument", path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// Neither an executable nor a script.
    #[error("{} is not an executable (no ELF header): name the program itself", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
    },
    /// An executable of another kind of machine.
    #[error("{} is built for {machine}; ranks run on 64-bit x86-64: build it for this machine", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The machine that it is for.
        machine: String,
    },
    /// All libraries are inside, MPI too.
    #[error("{} is statically linked, with its own MPI inside: link it dynamically (without -static)", path.display())]
    Static {
        /// The executable.
        path: PathBuf,
    },
    /// It has to be at one address, where only one rank's could be.
    #[error(
        "{} is not position-independent, so a process can have one copy only: compile with -fPIE and link with -pie",
        path.display()
    )]
    FixedAddress {
        /// The executable.
        path: PathBuf,
    },
    /// It has to be where this process has something else.
    #[error(
        "{} has to be at {start:#x} to {end:#x}, where this process has something else: run one rank in each process",
        path.display()
    )]
    AddressesTaken {
        /// The executable.
        path: PathBuf,
        /// The first address.
        start: usize,
        /// The one after the last.
        end: usize,
    },
    /// It has no beginning.
    #[error("{} is a shared library: name the executable that uses it", path.display())]
    Library {
        /// The library.
        path: PathBuf,
    },
    /// A file whose parts contradict each other.
    #[error("{} is damaged ({fault}): install or build it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        fault: Malformed,
    },
    /// A feature of ELF that slots cannot offer.
    #[error("{} has {feature}, which ranks cannot be given: {advice}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it has.
        feature: String,
        /// What to do.
        advice: &'static str,
    },
    /// A library that is nowhere.
    #[error(
        "{} needs the library {name}, which is in none of {}: install it, or add its folder to LD_LIBRARY_PATH",
        wanted_by.display(),
        Folders(searched)
    )]
    MissingLibrary {
        /// The library, as it was asked for.
        name: String,
        /// Who asks for it.
        wanted_by: PathBuf,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// A library that the process itself cannot open.
    #[error("{} needs the library {name}, which this process cannot open: {error}", wanted_by.display())]
    SharedLibrary {
        /// The library.
        name: String,
        /// Who asks for it.
        wanted_by: PathBuf,
        /// The dynamic linker's words.
        error: String,
    },
    /// Symbols that nobody defines.
    #[error("{}: install libraries of the versions that the program was built with", List(symbols))]
    MissingSymbols {
        /// All of them.
        symbols: Vec<MissingSymbol>,
    },
    /// It does not fit.
    #[error("{} needs {bytes} bytes of {room}; there is room for {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What there is too little of.
        room: &'static str,
        /// How much it needs.
        bytes: usize,
        /// How much there is.
        limit: usize,
    },
    /// The system refuses a mapping.
    #[error(
        "cannot map {} ({error}): if memory is short, use fewer ranks per node or a higher vm.max_map_count",
        path.display()
    )]
    Map {
        /// The file that was mapped.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// An address that a program cannot be loaded to.
    #[error("a program cannot be loaded to {base:#x}: a multiple of {} bytes is needed", crate::BASE_ALIGN)]
    Base {
        /// The address.
        base: usize,
    },
}

/// A part of a file that contradicts the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at {at:#x}")]
pub struct Malformed {
    /// What does not fit.
    pub what: &'static str,
    /// Where: an offset in the file, or an address in the object.
    pub at: usize,
}

/// A symbol that nobody defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSymbol {
    /// Its name, with the version that is wanted: `name@VERSION`.
    pub name: String,
    /// The file that refers to it.
    pub wanted_by: PathBuf,
}

impl fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs the symbol {}, which no library defines", self.wanted_by.display(), self.name)
    }
}

/// A list that a person reads.
struct List<'a>(&'a [MissingSymbol]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        for (i, symbol) in self.0.iter().take(SHOWN).enumerate() {
            let between = if i == 0 { "" } else { "; " };
            write!(f, "{between}{symbol}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

struct Folders<'a>(&'a [PathBuf]);

impl fmt::Display for Folders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        f.write_str(&names.join(", "))
    }
}
