//! What a rank sees of a file (MPI-3.1, 13.3).

use talisman_pup::Pup;

use crate::datatype::{Basic, Datatype, Datatypes, Part};

/// From a displacement on the file is laid out with a datatype, again and again. What its values cover is seen, as bytes
/// that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct View {
    displacement: u64,
    /// The unit of positions, and its handle if it is predefined.
    etype: (Datatype, Option<u32>),
    filetype: (Datatype, Option<u32>),
    /// The unit in bytes and the file's datatype as they are in external32 (MPI-3.1, 13.5.2), if values are written so, and
    /// not as they are in memory.
    external32: Option<(u64, Datatype)>,
}

/// Why a file is not seen so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The file's datatype is not made of whole elementary ones.
    Unit,
    /// Values of the file's datatype lie before its beginning, go back, or overlap in a file that is written.
    Layout,
}

impl View {
    /// All bytes.
    pub fn bytes() -> View {
        let (bytes, handle) = (Datatype::of(Basic::Byte), Datatypes::handle_of(Basic::Byte));
        let [etype, filetype] = [bytes.clone(), bytes].map(|bytes| (bytes, Some(handle)));
        View { displacement: 0, etype, filetype, external32: None }
    }

    /// A view of these datatypes, each with its handle if it is predefined, of a file that is written or only read.
    ///
    /// # Errors
    /// If they do not fit: the file's datatype is made of whole elementary ones, and its values begin one behind the
    /// other, none before its beginning. They overlap only in a file that is not written (MPI-4.1, 14.3).
    pub fn new(
        displacement: u64,
        etype: (Datatype, Option<u32>),
        filetype: (Datatype, Option<u32>),
        is_written: bool,
    ) -> Result<View, Unfit> {
        let (unit, size) = (etype.0.size(), filetype.0.size());
        if unit == 0 || !size.is_multiple_of(unit) {
            return Err(Unfit::Unit);
        }
        match order(&filetype.0) {
            Order::Apart => {}
            Order::Overlapping if !is_written => {}
            Order::Overlapping | Order::Back => return Err(Unfit::Layout),
        }
        Ok(View { displacement, etype, filetype, external32: None })
    }

    /// The same, with values in external32 or as they are in memory.
    pub fn in_external32(self, is_external32: bool) -> View {
        let external = (self.etype.0.external_size(), self.filetype.0.in_external32());
        View { external32: is_external32.then_some(external), ..self }
    }

    /// Whether values are in external32.
    pub fn is_external32(&self) -> bool {
        self.external32.is_some()
    }

    /// How the file is laid out.
    fn layout(&self) -> &Datatype {
        self.external32.as_ref().map_or(&self.filetype.0, |(_, datatype)| datatype)
    }

    /// Where it begins, in bytes of the file.
    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    /// The elementary datatype, and its handle if it is predefined.
    pub fn etype(&self) -> &(Datatype, Option<u32>) {
        &self.etype
    }

    /// The file's datatype, and its handle if it is predefined.
    pub fn filetype(&self) -> &(Datatype, Option<u32>) {
        &self.filetype
    }

    /// Bytes of an elementary value in the file.
    pub fn unit(&self) -> u64 {
        self.external32.as_ref().map_or(self.etype.0.size(), |(unit, _)| *unit)
    }

    /// Bytes of a datatype's values in the file.
    pub fn bytes_of(&self, datatype: &Datatype) -> u64 {
        if self.is_external32() { datatype.external_size() } else { datatype.size() }
    }

    /// Calls back with the offset in the file and the length of each piece that these bytes of the view lie in, in
    /// ascending order, until it says false.
    pub fn each_piece(&self, from: u64, bytes: u64, mut call: impl FnMut(u64, u64) -> bool) {
        let filetype = self.layout();
        let size = filetype.size();
        if bytes == 0 || size == 0 {
            return;
        }
        if filetype.is_contiguous() {
            call(self.displacement.saturating_add(from), bytes);
            return;
        }
        let mut part = Part { skip: from % size, left: bytes };
        let mut before: Option<(u64, u64)> = None;
        let mut goes_on = true;
        let mut tile = from / size;
        while goes_on && part.left > 0 {
            let start = self.tile(tile);
            goes_on = filetype.map().each_piece(0, &mut part, &mut |at, len| {
                let at = start.wrapping_add_signed(at);
                match &mut before {
                    Some((from, former)) if *from + *former == at => *former += len,
                    _ => {
                        let whole = before.replace((at, len));
                        return whole.is_none_or(|(at, len)| call(at, len));
                    }
                }
                true
            });
            tile += 1;
        }
        if let (true, Some((at, len))) = (goes_on, before) {
            call(at, len);
        }
    }

    fn tile(&self, number: u64) -> u64 {
        let extent = self.layout().extent().1.max(0) as u64;
        self.displacement.saturating_add(number.saturating_mul(extent))
    }

    /// The offset in the file of a position in elementary values.
    pub fn offset_of(&self, position: u64) -> u64 {
        let mut found = self.displacement;
        self.each_piece(position.saturating_mul(self.unit()), 1, |at, _| {
            found = at;
            false
        });
        found
    }

    /// How many elementary values of the view begin before this offset in the file.
    pub fn position_of(&self, offset: u64) -> u64 {
        let filetype = self.layout();
        let (size, extent) = (filetype.size(), filetype.extent().1.max(0) as u64);
        let behind = offset.saturating_sub(self.displacement);
        if size == 0 || extent == 0 {
            return 0;
        }
        let (tiles, rest) = (behind / extent, behind % extent);
        let mut bytes = tiles * size;
        filetype.map().each_piece(0, &mut Part { skip: 0, left: size }, &mut |at, len| {
            bytes += rest.saturating_sub(at.max(0) as u64).min(len);
            true
        });
        bytes.div_ceil(self.unit())
    }
}

/// How the values of a datatype follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Each begins where the one before it ends, or later.
    Apart,
    /// No run of values begins before the run before it, but some before its end.
    Overlapping,
    /// A run begins before the one before it, or before displacement 0.
    Back,
}

fn order(datatype: &Datatype) -> Order {
    let (mut last, mut end, mut order) = (0i64, 0i64, Order::Apart);
    datatype.map().each_run(0, &mut |at, basic, n| {
        if n == 0 || order == Order::Back {
            return;
        }
        if at < last {
            order = Order::Back;
        } else if at < end {
            order = Order::Overlapping;
        }
        let behind = at.saturating_add((n * basic.size()) as i64);
        (last, end) = (at, end.max(behind));
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(basic: Basic) -> (Datatype, Option<u32>) {
        (Datatype::of(basic), None)
    }

    fn pieces(view: &View, from: u64, bytes: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        view.each_piece(from, bytes, |at, len| {
            all.push((at, len));
            true
        });
        all
    }

    /// Of 4 ranks the second one's values, two of each eight.
    fn second_of_four() -> View {
        let two = Datatype::of(Basic::I32).vector(1, 2, 2).unwrap();
        let shifted = Datatype::structure(&[(1, &two)], &[8]).unwrap();
        View::new(100, named(Basic::I32), (shifted.resized(0, 32), None), true).unwrap()
    }

    #[test]
    fn bytes_of_a_view_lie_in_pieces_of_the_file() {
        let view = second_of_four();
        assert_eq!(pieces(&view, 0, 8), [(108, 8)]);
        assert_eq!(pieces(&view, 4, 16), [(112, 4), (140, 8), (172, 4)]);
        assert_eq!(pieces(&view, 8 * 1_000_000, 4), [(108 + 32 * 1_000_000, 4)]);
        assert_eq!(pieces(&view, 0, 0), [(0, 0); 0]);
        assert_eq!(pieces(&View::bytes(), 7, 9), [(7, 9)]);
    }

    #[test]
    fn pieces_that_touch_are_one() {
        let pair =
            Datatype::structure(&[(1, &Datatype::of(Basic::I32)), (1, &Datatype::of(Basic::F32))], &[0, 4]);
        let view = View::new(0, named(Basic::Byte), (pair.unwrap(), None), true).unwrap();
        assert_eq!(pieces(&view, 2, 21), [(2, 21)]);
    }

    #[test]
    fn what_is_said_no_to_is_the_last_piece() {
        let mut seen = 0;
        second_of_four().each_piece(0, 1 << 40, |_, _| {
            seen += 1;
            seen < 3
        });
        assert_eq!(seen, 3);
    }

    #[test]
    fn positions_are_of_what_is_seen() {
        let view = second_of_four();
        assert_eq!([0, 1, 2, 3].map(|position| view.offset_of(position)), [108, 112, 140, 144]);
        assert_eq!(
            [0, 108, 109, 112, 116, 140, 141].map(|offset| view.position_of(offset)),
            [0, 0, 1, 1, 2, 2, 3]
        );
    }

    #[test]
    fn values_in_external32_have_lengths_of_their_own() {
        let long = Datatype::of(Basic::Long);
        let every_other = long.vector(2, 1, 2).unwrap().resized(0, 32);
        let view = View::new(16, named(Basic::Long), (every_other, None), true).unwrap().in_external32(true);
        assert_eq!((view.unit(), pieces(&view, 4, 8)), (4, vec![(32, 4), (48, 4)]));
        let close = View::new(16, named(Basic::Long), named(Basic::Long), true).unwrap().in_external32(true);
        assert_eq!((pieces(&close, 4, 8), close.position_of(24)), (vec![(20, 8)], 2));
    }

    fn two_at(displacements: [i64; 2]) -> (Datatype, Option<u32>) {
        let one = Datatype::of(Basic::I32);
        (Datatype::structure(&[(1, &one), (1, &one)], &displacements).unwrap(), None)
    }

    #[test]
    fn what_does_not_ascend_is_no_view() {
        for is_written in [false, true] {
            for displacements in [[8, 0], [-4, 4]] {
                let view = View::new(0, named(Basic::I32), two_at(displacements), is_written);
                assert_eq!(view, Err(Unfit::Layout));
            }
            let halves = View::new(0, named(Basic::F64), named(Basic::I32), is_written);
            assert_eq!(halves, Err(Unfit::Unit));
        }
    }

    #[test]
    fn what_overlaps_is_read_and_not_written() {
        let view = |is_written| View::new(100, named(Basic::I32), two_at([0, 2]), is_written);
        assert_eq!(view(true), Err(Unfit::Layout));
        let view = view(false).unwrap();
        assert_eq!(pieces(&view, 0, 12), [(100, 4), (102, 8)], "two that touch are one");
        assert_eq!([0, 1, 2].map(|position| view.offset_of(position)), [100, 102, 106]);
        // One that begins within several.
        let within = Datatype::of(Basic::I32).hindexed(&[3, 1], &[0, 4]).unwrap();
        let view = View::new(0, named(Basic::I32), (within, None), false).unwrap();
        assert_eq!(pieces(&view, 0, 16), [(0, 12), (4, 4)]);
    }
}
