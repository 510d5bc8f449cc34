//! `talisman mpirun --explain PROGRAM`: what a program needs, and from whom it gets that. Nothing of it runs.

use std::path::Path;

use talisman_loader::Search;

use crate::answers::Answers;

/// What there is to say, in lines.
///
/// # Errors
/// If the program or a library of it cannot be read, or is not there.
pub fn explain(file: &Path) -> Result<String, String> {
    let explanation = talisman_loader::explain(file, &Search::from_environment(), &Answers::of(file));
    explanation.map(|explanation| explanation.to_string()).map_err(|error| error.to_string())
}
