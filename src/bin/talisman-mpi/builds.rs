//! Ranks that move bring their data along, and find the code that is there: it has to be the same build.

use talisman_ampi::slot::ImagesError;

/// Looks whether this process has the files that the job began with: their names, and numbers of their builds.
///
/// # Errors
/// If one is another build here, or there are others.
pub fn check(here: &[(&str, u64)], there: &[u64]) -> Result<(), ImagesError> {
    if here.len() != there.len() {
        let (here, there) = (here.len(), there.len());
        return Err(ImagesError::Load(format!(
            "the program has {here} files here, and {there} where the job began: install the same libraries everywhere"
        )));
    }
    match here.iter().zip(there).find(|((_, here), there)| here != *there) {
        None => Ok(()),
        Some(((name, _), _)) => Err(ImagesError::Load(format!(
            "{name} is another build here than where the job began: ranks that go on need the same files"
        ))),
    }
}
