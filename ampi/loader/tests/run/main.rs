//! Programs that a compiler made, natively and in slots: they print the same.
//!
//! The tests start this program again as the host of ranks (`host.rs`), so that what ranks print can be told from
//! what the tests do.

mod build;
mod cases;
mod damaged;
mod executables;
mod explains;
mod host;
mod hostile;
mod mistakes;
mod refusals;
mod switch;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("host") => std::process::exit(host::main(&arguments[2..])),
        Some("mistaken") => std::process::exit(host::mistaken(&arguments[2..])),
        _ => {}
    }
    let tests: Vec<Trial> = [
        cases::tests(),
        mistakes::tests(),
        refusals::tests(),
        explains::tests(),
        hostile::tests(),
        damaged::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}

/// A test of the list: its name is that of the function.
#[macro_export]
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn tests() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test(stringify!($name), || {
                $name();
                Ok(())
            })),*]
        }
    };
}
