//! What differs between the languages that are compiled.

use std::ffi::OsString;

use talisman_abi::Interface;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

/// The option by which the other programs say theirs, as the first word.
const OPTION: &str = "--talisman-language=";

const ALL: [Language; 3] = [Language::C, Language::Cxx, Language::Fortran];

impl Language {
    /// Takes the option out of the words.
    pub fn asked_for(words: &mut Vec<OsString>) -> Language {
        let first = words.first().and_then(|word| word.to_str()).unwrap_or_default();
        let name = first.strip_prefix(OPTION).unwrap_or_default();
        match ALL.into_iter().find(|language| language.name() == name) {
            None => Language::C,
            Some(language) => {
                words.remove(0);
                language
            }
        }
    }

    /// The program that people call.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "talisman-mpicc",
            Language::Cxx => "talisman-mpicxx",
            Language::Fortran => "talisman-mpifort",
        }
    }

    /// The variable that names another compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Language::C => "TALISMAN_CC",
            Language::Cxx => "TALISMAN_CXX",
            Language::Fortran => "TALISMAN_FC",
        }
    }

    /// The compiler that is called.
    pub fn compiler(self) -> OsString {
        let usual = match self {
            Language::C => "cc",
            Language::Cxx => "c++",
            Language::Fortran => "gfortran",
        };
        std::env::var_os(self.variable()).filter(|name| !name.is_empty()).unwrap_or_else(|| usual.into())
    }

    /// The binary interface that its programs have. That of the standard is for C: Fortran's is MPICH's.
    pub fn interface(self) -> Interface {
        if self == Language::Fortran { Interface::Mpich } else { Interface::Standard }
    }

    /// The library that its programs need, by the name that is linked and by the one that they need it by.
    pub fn library(self) -> (&'static str, &'static str) {
        match self {
            Language::C | Language::Cxx => ("mpi_abi", "libmpi_abi.so.1"),
            Language::Fortran => ("mpifort", "libmpifort.so.12"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_may_say_the_language() {
        let read = |words: &[&str]| {
            let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
            (Language::asked_for(&mut words), words.len())
        };
        assert_eq!(read(&["-c", "x.c"]), (Language::C, 2));
        assert_eq!(read(&["--talisman-language=talisman-mpifort", "x.f"]), (Language::Fortran, 1));
        assert_eq!(read(&["x.c", "--talisman-language=talisman-mpicxx"]), (Language::C, 2));
        assert_eq!(read(&[]), (Language::C, 0));
    }
}
