//! What the launcher has to know of the program's chares.

use crate::checkpoint::part::{Part, SavedCollection};
use talisman_job::program_types::ProgramTypes;
use talisman_kernel::kind::Kind;
use talisman_kernel::registry::Registry;
use talisman_pup::{Packed, PupError};

/// The chares of this program.
pub struct Registered;

impl ProgramTypes for Registered {
    fn chares(&self) -> Vec<(u64, String)> {
        Registry::get().types().iter().map(|chare| (chare.key, (chare.name)())).collect()
    }

    fn has_nodegroups(&self, part: Packed) -> Result<bool, PupError> {
        let part: Part = part.into_value()?;
        let kind = |saved: &SavedCollection| Registry::get().find(saved.of.key).map(|(_, chare)| chare.kind);
        Ok(part.collections.iter().any(|saved| kind(saved) == Some(Kind::NodeGroup)))
    }
}
