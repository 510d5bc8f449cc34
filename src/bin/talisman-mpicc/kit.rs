//! What programs are compiled and linked with: headers, and a library of the functions' names. They are written into a
//! folder of the user's when they are needed first.
//!
//! Nothing of MPI is in the library: under `talisman mpirun` ranks find the functions in their node. A program that is
//! started without it finds the library, whose functions say how it is to be started.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use talisman_abi::{Answer, FORTRAN_HEADER, HEADER, answer, names};

use crate::language::Language;

/// The files for a language.
#[derive(Debug)]
pub struct Kit {
    language: Language,
    folder: PathBuf,
}

impl Kit {
    /// Writes the files, if they are not there.
    pub fn of(language: Language) -> Result<Kit, String> {
        let files = Files::of(language);
        let folder = cache()?.join(format!("{}-{:016x}", language.library().0, files.mark(language)));
        if !folder.is_dir() {
            files.write(language, &folder)?;
        }
        Ok(Kit { language, folder })
    }

    /// Where the headers are.
    pub fn include(&self) -> PathBuf {
        self.folder.join("include")
    }

    /// Where the library is.
    pub fn library(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// The name of the library for the linker.
    pub fn name(&self) -> &'static str {
        self.language.library().0
    }

    /// Whether the compiler has to be told that a function takes arguments of any type.
    pub fn takes_any_type(&self) -> bool {
        let compiler = self.language.compiler();
        self.language == Language::Fortran && compiler.to_string_lossy().contains("gfortran")
    }

    #[cfg(test)]
    pub fn for_tests() -> Kit {
        Kit { language: Language::C, folder: "/kit".into() }
    }
}

/// A folder of the user's for what can be made again.
fn cache() -> Result<PathBuf, String> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    let folder =
        folder.ok_or("neither XDG_CACHE_HOME nor HOME names a folder for the header and the library")?;
    Ok(folder.join("talisman"))
}

/// The contents of the files.
struct Files {
    headers: Vec<(&'static str, &'static str)>,
    library: String,
}

/// The module of Fortran 90, which has the same constants.
const MODULE: &str = "module mpi\n  include 'mpif.h'\nend module\n";

impl Files {
    fn of(language: Language) -> Files {
        let headers = match language {
            Language::C | Language::Cxx => vec![("mpi.h", HEADER)],
            Language::Fortran => vec![("mpif.h", FORTRAN_HEADER), ("mpi.f90", MODULE)],
        };
        Files { headers, library: source(&functions(language), &data(language)) }
    }

    /// Differs for other contents, and for modules of another compiler.
    fn mark(&self, language: Language) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.headers, &self.library).hash(&mut hasher);
        if language == Language::Fortran {
            language.compiler().hash(&mut hasher);
            let version = Command::new(language.compiler()).arg("-dumpfullversion").output();
            version.map(|output| output.stdout).unwrap_or_default().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Writes them beside the folder first: others may do the same now.
    fn write(&self, language: Language, folder: &Path) -> Result<(), String> {
        let own = folder.with_extension(std::process::id().to_string());
        let written = self.write_into(language, &own).and_then(|()| match fs::rename(&own, folder) {
            Err(_) if folder.is_dir() => Ok(()),
            renamed => renamed.map_err(|error| cannot_write(folder, &error)),
        });
        // What is left of an attempt; nothing of one that succeeded.
        let _gone = fs::remove_dir_all(&own);
        written
    }

    fn write_into(&self, language: Language, folder: &Path) -> Result<(), String> {
        let (include, library) = (folder.join("include"), folder.join("lib"));
        let files = || -> io::Result<()> {
            fs::create_dir_all(&include)?;
            fs::create_dir_all(&library)?;
            self.headers.iter().try_for_each(|(name, text)| fs::write(include.join(name), text))?;
            fs::write(library.join("names.c"), &self.library)
        };
        files().map_err(|error| cannot_write(folder, &error))?;
        let (name, soname) = language.library();
        let mut linker = Command::new(Language::C.compiler());
        linker.args([
            "-shared",
            "-fPIC",
            "-O1",
            "-w",
            &format!("-Wl,-soname,{soname}"),
            "names.c",
            "-o",
            soname,
        ]);
        call(&mut linker, &library)?;
        symlink(soname, library.join(format!("lib{name}.so")))
            .map_err(|error| cannot_write(folder, &error))?;
        if language == Language::Fortran {
            call(Command::new(language.compiler()).args(["-w", "-fsyntax-only", "mpi.f90"]), &include)?;
        }
        Ok(())
    }
}

fn cannot_write(folder: &Path, error: &io::Error) -> String {
    format!("the header and the library cannot be written to {}: {error}", folder.display())
}

fn call(command: &mut Command, folder: &Path) -> Result<(), String> {
    let name = command.get_program().to_owned();
    let failed = |why: &dyn std::fmt::Display, name: &OsStr| {
        format!("`{}` cannot make the library to link with: {why}", name.display())
    };
    let output = command.current_dir(folder).output().map_err(|error| failed(&error, &name))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(&String::from_utf8_lossy(&output.stderr).trim(), &name)),
    }
}

/// The names that a compiler makes of the functions of a language.
fn functions(language: Language) -> Vec<String> {
    let all = names(language.interface());
    match language {
        Language::Fortran => {
            let own = all.map(str::to_ascii_lowercase).filter(|name| name.starts_with("mpi_"));
            let own: BTreeSet<String> = own.collect();
            own.iter().flat_map(|name| [format!("{name}_"), format!("p{name}_")]).collect()
        }
        _ => {
            let own = all.filter(|name| name.starts_with("MPI_"));
            own.flat_map(|name| [name.to_owned(), format!("P{name}")]).collect()
        }
    }
}

/// Data that programs have copies of, with their bytes: a linker exports those of an executable if a library has them too.
fn data(language: Language) -> Vec<(&'static str, usize)> {
    let interface = language.interface();
    let bytes = |name| match answer(interface, name) {
        Some(Answer::Data(_, bytes)) => Some((name, bytes)),
        _ => None,
    };
    names(interface).filter_map(bytes).collect()
}

/// A library whose functions say how a program is started, and end it.
fn source(functions: &[String], data: &[(&str, usize)]) -> String {
    const BEGINNING: &str = "\
extern long write(int, const void *, unsigned long);
extern void _exit(int);
static void say(void) {
    static const char text[] =
        \"this program runs on virtual ranks: start it with `talisman mpirun -n RANKS PROGRAM`\\n\";
    write(2, text, sizeof text - 1);
    _exit(1);
}
";
    let mut source = BEGINNING.to_owned();
    for name in functions {
        source.push_str(&format!("void {name}(void) __attribute__((alias(\"say\")));\n"));
    }
    for (name, bytes) in data {
        source.push_str(&format!("char {name}[{bytes}] __attribute__((aligned(16))) = {{0}};\n"));
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_has_the_functions_of_the_language() {
        let has = |language, name: &str| functions(language).iter().any(|own| own == name);
        for name in ["MPI_Init", "PMPI_Send", "MPI_Allreduce_c", "MPI_Win_create"] {
            assert!(has(Language::C, name), "{name}");
        }
        for name in ["mpi_init_", "pmpi_send_", "mpi_wtime_"] {
            assert!(has(Language::Fortran, name), "{name}");
        }
        let data = data(Language::Fortran);
        assert!(data.contains(&("mpipriv1_", 28)) && data.iter().all(|(name, _)| !name.contains("init")));
        assert!(!has(Language::C, "mpi_init_") && !has(Language::Fortran, "MPI_Init"));
    }
}
