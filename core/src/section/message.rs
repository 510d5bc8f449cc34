//! What PEs say to each other of sections.

use crate::group_members::GroupMembersOnPe;
use crate::lifecycle::destroy::DestructionOnPe;
use crate::section::SectionsOnPe;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId, wire};
use talisman_base::limits::{MULTICASTS, REDUCTIONS};
use talisman_kernel::message::control::Cast;
use talisman_kernel::message::service::{About, Service, ServiceMessage, WhenFrozen, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, require};
use talisman_pup::Pup;

/// A message about a section.
#[derive(Debug, Pup)]
pub enum SectionMessage {
    /// To the root of a section: a multicast.
    Request {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
        cast: Cast,
    },
    /// A multicast to the members that the root believes on this PE.
    Cast {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
        number: u32,
        members: Vec<u128>,
        cast: Cast,
    },
    /// To the root of a section: it is to end.
    Drop {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
    },
    /// From the root of a section to the acting PE of a lost member: to how many of its reductions did that contribute?
    WasContributing { member: ObjId, section: SectionId },
    /// Back, once it will not contribute to any other.
    HasContributed { member: ObjId, section: SectionId, reductions: u32 },
}

service!(SectionMessage);

impl ServiceMessage for SectionMessage {
    const SERVICE: Service = Service::Sections;

    fn run(self, pe: &Pe, _: PeId) {
        match self {
            SectionMessage::Request { collection, section, cast } => {
                pe.on_section_request(collection, section, cast);
            }
            SectionMessage::Cast { collection, section, number, members, cast } => {
                pe.on_section_cast(collection, section, number, &members, &cast);
            }
            SectionMessage::Drop { collection, section } => pe.on_drop_section(collection, section),
            SectionMessage::WasContributing { member, section } => pe.on_was_contributing(member, section),
            SectionMessage::HasContributed { member, section, reductions } => {
                pe.on_has_contributed(member, section, reductions);
            }
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        let is_here = |section: &SectionId| pe.view().acting_for(section.creator) == pe.id;
        match self {
            SectionMessage::Request { section, .. } => {
                require(is_here(section), "a request to a section whose root is elsewhere")
            }
            SectionMessage::Drop { section, .. } => {
                require(is_here(section), "the end of a section whose root is elsewhere")
            }
            SectionMessage::Cast { number, .. } => MULTICASTS.check(*number),
            SectionMessage::WasContributing { .. } => Ok(()),
            SectionMessage::HasContributed { reductions, .. } => REDUCTIONS.check(*reductions),
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            SectionMessage::Request { collection, .. }
            | SectionMessage::Cast { collection, .. }
            | SectionMessage::Drop { collection, .. } => Some(*collection),
            SectionMessage::WasContributing { member, .. }
            | SectionMessage::HasContributed { member, .. } => Some(member.collection),
        }
    }

    fn when_frozen(&self) -> WhenFrozen {
        match self {
            SectionMessage::Request { .. } | SectionMessage::Drop { .. } => WhenFrozen::Waits,
            SectionMessage::Cast { .. }
            | SectionMessage::WasContributing { .. }
            | SectionMessage::HasContributed { .. } => WhenFrozen::Runs,
        }
    }

    fn about(&self) -> About {
        match self {
            SectionMessage::Request { collection, .. } | SectionMessage::Cast { collection, .. } => {
                About::of_collection("a multicast to elements", Some(*collection))
            }
            _ => About::RUNTIME,
        }
    }

    fn missed(&self) -> Option<&'static str> {
        let is_request = matches!(self, SectionMessage::Request { .. });
        is_request.then_some("a multicast to a section of a destroyed collection")
    }

    fn request_again(self, pe: &Pe) {
        match self {
            SectionMessage::Request { collection, section, cast } => pe.multicast(collection, section, cast),
            SectionMessage::Drop { collection, section } => pe.destroy_section(collection, section),
            other => pe.tell(pe.id, other),
        }
    }
}
