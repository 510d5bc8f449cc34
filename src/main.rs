//! The `talisman` command: `talisman run --hosts FILE -- PROGRAM…`.

use std::process::ExitCode;

fn main() -> ExitCode {
    talisman::launch::tool::main(std::env::args_os()).into()
}
