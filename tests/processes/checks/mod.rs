//! What is tested, by subject.

mod advice;
mod bench;
mod cuts;
mod diagnostics;
#[cfg(feature = "tls")]
mod encryption;
mod ends;
mod kills;
mod limits;
mod names;
mod options;
mod output;
mod perfetto;
mod pressure;
mod results;
mod secrets;
mod soak;
mod stops;
mod strangers;
mod surroundings;
mod traces;

use libtest_mimic::Trial;

/// All tests: each by its subject's name and its own.
pub fn all() -> Vec<Trial> {
    let subjects = [
        results::all(),
        output::all(),
        ends::all(),
        kills::all(),
        stops::all(),
        cuts::all(),
        strangers::all(),
        #[cfg(feature = "tls")]
        encryption::all(),
        secrets::all(),
        limits::all(),
        options::all(),
        diagnostics::all(),
        names::all(),
        surroundings::all(),
        traces::all(),
        perfetto::all(),
        advice::all(),
        bench::all(),
        pressure::all(),
        soak::all(),
    ];
    subjects.into_iter().flatten().collect()
}

pub(crate) use crate::trials::checks;
