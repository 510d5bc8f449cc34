//! `talisman-mpicc`: compiles programs in C for `talisman mpirun`, as other systems' `mpicc` does for theirs. So do
//! `talisman-mpicxx` and `talisman-mpifort` for C++ and Fortran: they call this program.
//!
//! | file | is |
//! |---|---|
//! | `language.rs` | what differs between languages |
//! | `kit.rs` | headers and library, which are written into a folder of the user's |
//! | `arguments.rs` | what the compiler is called with |
//! | `beside.rs` | the other two programs |

mod arguments;
mod kit;
mod language;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use arguments::Wish;
use kit::Kit;
use language::Language;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let language = Language::asked_for(&mut words);
    match run(language, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{}: {why}", language.name());
            ExitCode::FAILURE
        }
    }
}

/// Prints what is asked for, or becomes the compiler.
fn run(language: Language, given: Vec<OsString>) -> Result<(), String> {
    let compiler = language.compiler();
    let kit = Kit::of(language)?;
    match arguments::read(given) {
        Wish::Show(given) => {
            let words = [compiler].into_iter().chain(arguments::all(&kit, given));
            println!("{}", arguments::joined(words));
        }
        Wish::ShowCompiling => println!("{}", arguments::joined(arguments::compiling(&kit))),
        Wish::ShowLinking => println!("{}", arguments::joined(arguments::linking(&kit))),
        Wish::Run(given) => {
            let error = Command::new(&compiler).args(arguments::all(&kit, given)).exec();
            let variable = language.variable();
            let compiler = compiler.display();
            return Err(format!("`{compiler}` cannot be run: {error}; {variable} names another compiler"));
        }
    }
    Ok(())
}
