//! Who becomes the launcher of a job over several hosts when that is lost: of any hosts, at most one part goes on.
//!
//! | file | is |
//! |---|---|
//! | [`quorum`] | which hosts may go on without the others |
//! | [`discovery`] | where a host looks for the one that leads |
//! | [`inquiries`] | who waits for an answer |
//! | [`election`] | whom the one waits for that takes the launcher's place |

pub mod discovery;
pub mod election;
pub mod inquiries;
pub mod quorum;
