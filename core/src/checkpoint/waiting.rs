//! Messages that wait, in a part of a checkpoint.

use talisman_base::ids::ObjId;
use talisman_kernel::message::envelope::Envelope;
use talisman_kernel::wire;
use talisman_pup::{Lender, Packed, Packer, Pup, PupError, Purpose};
use talisman_store::slabs::Room;
use talisman_store::versions::Store;

/// So many bytes are packed behind one another before they are put where the part is: they are in the core's cache still. What waits
/// may be a good deal of the part, and is not to be written to memory twice.
const PIECE: usize = 64 << 10;

/// Messages for objects, in the order in which they would have run: pieces with some of them each, packed as between nodes.
#[derive(Debug, Default, Pup)]
pub struct Messages(Vec<Packed>);

impl Messages {
    /// Packs these, in slabs of the part if they are worth it. `refuse` hears of one that nobody could read again, and why.
    pub(super) fn pack<'a>(
        messages: impl Iterator<Item = &'a Envelope>,
        store: &Store,
        room: &mut Room,
        refuse: impl Fn(&Envelope, &PupError),
    ) -> Messages {
        let (mut pieces, mut messages) = (Vec::new(), messages.peekable());
        while messages.peek().is_some() {
            let mut lender = Lender::new(Packer::over(Purpose::Message, room.scratch()));
            while lender.packer().size() < PIECE
                && let Some(message) = messages.next()
            {
                wire::lend_kept(message, &mut lender, |bytes, align| room.copy(store, bytes, align));
                if let Some(why) = lender.packer().refusal() {
                    refuse(message, why);
                }
            }
            let (piece, scratch) = room.packed(store, lender.finish());
            room.keep_scratch(scratch);
            pieces.push(piece);
        }
        Messages(pieces)
    }

    /// Leaves those for objects of which this holds. What cannot be read stays, for whoever restores it to say so.
    pub(super) fn retain(&mut self, stays: impl Fn(ObjId) -> bool) {
        let Ok(each) = Messages(self.0.clone()).each() else { return };
        let stay = each.into_iter().filter(|message| wire::kept_for(message).is_none_or(&stays));
        *self = Messages::of_each(stay);
    }

    /// Of messages that are packed already.
    pub(super) fn of_each(messages: impl Iterator<Item = Packed>) -> Messages {
        Messages(messages.map(|message| Packed::of(&message)).collect())
    }

    /// Each by itself.
    ///
    /// # Errors
    /// Something else is in there.
    pub(super) fn each(self) -> Result<Vec<Packed>, PupError> {
        let mut each = Vec::new();
        for piece in self.0 {
            piece.read(Purpose::Message, |u| {
                while u.left() > 0 {
                    each.push(Packed::unpack(u)?);
                }
                Ok(())
            })?;
        }
        Ok(each)
    }
}
