//! `talisman mpirun --explain PROGRAM`: what a program needs, and from whom it gets that. Nothing of it runs.

use std::path::Path;

use crate::answers::Answers;
use crate::library_search::search;

/// What there is to say, in lines, of a program whose ranks have these variables.
///
/// # Errors
/// If the program or a library of it cannot be read, or is not there.
pub fn explain(file: &Path, variables: &[String]) -> Result<String, String> {
    let explanation = talisman_loader::explain(file, &search(variables), &Answers::of(file));
    explanation.map(|explanation| explanation.to_string()).map_err(|error| error.to_string())
}
