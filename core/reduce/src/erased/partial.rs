//! Partial results on their way up the tree.

use talisman_pup::{Packed, Packer, Pup, PupError, Purpose, Unpacker};

use super::info::{ReduceInfo, SHORT, Total, typed};
use crate::{ReduceError, Reducer};

/// A partial result of any reducer: what a PE holds of a reduction, and what it sends to its parent in the tree.
///
/// On the wire it carries the id of its reducer, so a PE that never contributed can join partial results, in any process
/// of the program. A reducer that only a shared library uses is the exception: where it is not
/// [registered](crate::register_reducer), partial results are kept as they came and passed on together,
/// and only [`AnyPartial::finish`] is an error.
#[derive(Debug)]
pub struct AnyPartial {
    state: State,
    /// Who contributed, if that was one, and this has not been sent.
    sole: Option<u128>,
}

#[derive(Debug)]
enum State {
    Known { info: &'static ReduceInfo, total: Total },
    Foreign { id: u64, parts: Vec<Vec<u8>> },
}

impl AnyPartial {
    /// The partial result of one contribution; `at` is the contributor's index bits.
    ///
    /// # Errors
    /// [`ReduceError::Clash`].
    pub fn lift<T, R>(value: T, at: u128) -> Result<Self, ReduceError>
    where
        T: Pup + Send + 'static,
        R: Reducer<T>,
    {
        let info = ReduceInfo::of::<T, R>()?;
        let state = State::Known { info, total: Box::new(R::lift(value, at)) };
        Ok(AnyPartial { state, sole: Some(at) })
    }

    /// The partial result of one packed contribution to the reducer with this id.
    ///
    /// # Errors
    /// [`ReduceError::Unknown`] when this process does not know it; [`ReduceError::Packed`] when the bytes are not those of a value.
    pub fn lift_packed(id: u64, value: &mut Unpacker<'_>, at: u128) -> Result<Self, ReduceError> {
        let info = ReduceInfo::known(id).ok_or(ReduceError::Unknown { id })?;
        let state = State::Known { info, total: (info.lift)(value, at)? };
        Ok(AnyPartial { state, sole: Some(at) })
    }

    /// Takes in a contribution of the reducer with this id, the first or one more. The value comes back if that is not known here, or is
    /// not one of such values, or if what is there is of another.
    #[inline]
    pub fn take_in<T: 'static>(total: &mut Option<Self>, id: u64, value: T, at: u128) -> Option<T> {
        let mut value = Some(value);
        match total {
            Some(AnyPartial { state: State::Known { info, total }, sole }) => {
                if info.id == id && info.is_of::<T>() {
                    *sole = None;
                    (info.add_value)(&mut **total, &mut value, at);
                }
            }
            None => {
                if let Some(info) = ReduceInfo::known(id).filter(|info| info.is_of::<T>()) {
                    let state = State::Known { info, total: (info.lift_value)(&mut value, at) };
                    *total = Some(AnyPartial { state, sole: Some(at) });
                }
            }
            Some(AnyPartial { state: State::Foreign { .. }, .. }) => {}
        }
        value
    }

    /// Takes in one more contribution.
    ///
    /// # Errors
    /// [`ReduceError::Mismatch`] when this is the partial result of another reducer.
    pub fn add<T, R>(&mut self, value: T, at: u128) -> Result<(), ReduceError>
    where
        T: Pup + Send + 'static,
        R: Reducer<T>,
    {
        self.sole = None;
        match &mut self.state {
            State::Known { info, total } if info.is::<T, R>() => {
                R::add(typed(&mut **total), value, at);
                Ok(())
            }
            _ => self.combine(Self::lift::<T, R>(value, at)?),
        }
    }

    /// Takes in one more packed contribution.
    ///
    /// # Errors
    /// As for [`AnyPartial::lift_packed`] and [`AnyPartial::combine`].
    pub fn add_packed(&mut self, id: u64, value: &mut Unpacker<'_>, at: u128) -> Result<(), ReduceError> {
        self.sole = None;
        match &mut self.state {
            State::Known { info, total } if info.id == id => Ok((info.add)(&mut **total, value, at)?),
            _ => self.combine(Self::lift_packed(id, value, at)?),
        }
    }

    /// Joins another partial result of the same reduction.
    ///
    /// # Errors
    /// [`ReduceError::Mismatch`], or [`ReduceError::Packed`] when one that was kept as it came is damaged. Then `self`
    /// may lack contributions, and its reduction has failed.
    pub fn combine(&mut self, next: AnyPartial) -> Result<(), ReduceError> {
        if self.id() != next.id() {
            return Err(ReduceError::Mismatch { wanted: self.name(), found: next.name() });
        }
        // Both are of one reducer, which may have become known since the first came.
        self.settle()?;
        self.sole = None;
        match (&mut self.state, next.state) {
            (State::Known { info, total }, State::Known { total: next, .. }) => {
                (info.combine)(&mut **total, next);
            }
            (State::Known { info, total }, State::Foreign { parts, .. }) => {
                for part in parts {
                    (info.combine)(&mut **total, unpack_part(info, &part)?);
                }
            }
            (State::Foreign { parts, .. }, State::Foreign { parts: more, .. }) => parts.extend(more),
            (State::Foreign { .. }, State::Known { .. }) => {
                unreachable!("`settle` looks up the id that the known one is registered under")
            }
        }
        Ok(())
    }

    /// Its packed bytes, as few as they are, if it is so short by its type: number and words. [`AnyPartial::of_short`] reads them.
    pub fn short(&self) -> Option<(usize, [u64; 2])> {
        let State::Known { info, total } = &self.state else { return None };
        if !info.is_short {
            return None;
        }
        let mut packer = Packer::with_capacity(Purpose::Message, SHORT);
        (info.pack)(&**total, &mut packer);
        let is_alone = packer.refusal().is_none() && packer.needs().is_empty();
        let bytes = packer.finish();
        let mut words = [0; SHORT];
        words.get_mut(..bytes.len()).filter(|_| is_alone)?.copy_from_slice(&bytes);
        let (low, high) = words.split_at(8);
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        Some((bytes.len(), [word(low), word(high)]))
    }

    /// One of the reducer with this id, of so many bytes in these words.
    ///
    /// # Errors
    /// As for [`AnyPartial::lift_packed`].
    pub fn of_short(id: u64, len: usize, words: [u64; 2]) -> Result<Self, ReduceError> {
        let info = ReduceInfo::known(id).ok_or(ReduceError::Unknown { id })?;
        let mut bytes = [0; SHORT];
        bytes[..8].copy_from_slice(&words[0].to_le_bytes());
        bytes[8..].copy_from_slice(&words[1].to_le_bytes());
        let total = unpack_part(info, bytes.get(..len).ok_or(ReduceError::Empty)?)?;
        Ok(AnyPartial { state: State::Known { info, total }, sole: None })
    }

    /// The packed result.
    ///
    /// # Errors
    /// What the reducer's own `finish` says, and [`ReduceError::Unknown`] when this process does not know it.
    pub fn finish(mut self) -> Result<Packed, ReduceError> {
        self.settle()?;
        match self.state {
            State::Known { info, total } => (info.finish)(total),
            State::Foreign { id, .. } => Err(ReduceError::Unknown { id }),
        }
    }

    /// The id of the reducer.
    pub fn id(&self) -> u64 {
        match &self.state {
            State::Known { info, .. } => info.id,
            State::Foreign { id, .. } => *id,
        }
    }

    fn name(&self) -> String {
        match &self.state {
            State::Known { info, .. } => info.name.into(),
            State::Foreign { id, .. } => format!("the unknown reducer {id:#018x}"),
        }
    }

    /// Unpacks what came from elsewhere, if its reducer is known by now.
    fn settle(&mut self) -> Result<(), ReduceError> {
        if let State::Foreign { id, parts } = &self.state
            && let Some(info) = ReduceInfo::known(*id)
        {
            self.state = State::Known { info, total: unpack_parts(info, parts)? };
        }
        Ok(())
    }
}

fn unpack_parts(info: &'static ReduceInfo, parts: &[Vec<u8>]) -> Result<Total, ReduceError> {
    let (first, rest) = parts.split_first().ok_or(ReduceError::Empty)?;
    let mut total = unpack_part(info, first)?;
    for part in rest {
        (info.combine)(&mut *total, unpack_part(info, part)?);
    }
    Ok(total)
}

fn unpack_part(info: &'static ReduceInfo, part: &[u8]) -> Result<Total, PupError> {
    let mut u = Unpacker::new(part, Purpose::Message);
    let total = (info.unpack)(&mut u)?;
    u.finish()?;
    Ok(total)
}

/// The id, then the number of parts, normally one, each with its length: whoever does not know the reducer can
/// still pass it on. If it cannot be read again, the refusal says who contributed that, where it is known.
impl Pup for AnyPartial {
    const MIN_SIZE: usize = 24;

    fn pack(&self, p: &mut Packer) {
        self.id().pack(p);
        match (&self.state, self.sole) {
            (State::Foreign { parts, .. }, _) => parts.pack(p),
            (State::Known { info, total }, sole) => {
                p.len(1);
                match sole {
                    Some(at) => p.given_by(at, |p| pack_part(info, total, p)),
                    None => pack_part(info, total, p),
                }
            }
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let id = u64::unpack(u)?;
        let parts = Vec::<Vec<u8>>::unpack(u)?;
        if parts.is_empty() {
            return Err(u.invalid(ReduceError::Empty));
        }
        let mut partial = AnyPartial { state: State::Foreign { id, parts }, sole: None };
        partial.settle().map_err(|error| u.invalid(error))?;
        Ok(partial)
    }
}

/// The part with its length before it, which only a first pass tells.
fn pack_part(info: &ReduceInfo, total: &Total, p: &mut Packer) {
    let mut sizer = Packer::sizer(p.purpose());
    (info.pack)(&**total, &mut sizer);
    p.len(sizer.size());
    let (start, was_refused) = (p.size(), p.refusal().is_some());
    (info.pack)(&**total, p);
    if !was_refused {
        p.place_refusal(start, info.unpack);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use talisman_pup::{from_bytes, to_bytes};

    use super::*;
    use crate::{Concat, Max, Sum};

    fn finished<T: Pup>(partial: AnyPartial) -> T {
        partial.finish().unwrap().into_value().unwrap()
    }

    fn sent(partial: &AnyPartial) -> AnyPartial {
        from_bytes(&to_bytes(partial)).unwrap()
    }

    /// As it looks in a process that does not know the reducer.
    fn foreign(partial: &AnyPartial) -> AnyPartial {
        let State::Known { info, total } = &partial.state else { panic!("already foreign") };
        let mut p = Packer::new(Purpose::Message);
        (info.pack)(&**total, &mut p);
        AnyPartial { state: State::Foreign { id: info.id, parts: vec![p.finish()] }, sole: None }
    }

    #[test]
    fn joined_typed_packed_and_sent() {
        let mut a = AnyPartial::lift::<_, (Sum, Concat)>((0.5f64, 1u8), 7).unwrap();
        a.add::<_, (Sum, Concat)>((0.25, 2u8), 3).unwrap();
        let info = ReduceInfo::of::<(f64, u8), (Sum, Concat)>().unwrap();
        let value = to_bytes(&(8.0f64, 3u8));
        let value = || Unpacker::new(&value, Purpose::Message);
        let mut b = AnyPartial::lift_packed(info.id, &mut value(), 5).unwrap();
        b.add_packed(info.id, &mut value(), 9).unwrap();
        let unknown = AnyPartial::lift_packed(!info.id, &mut value(), 5);
        assert!(matches!(unknown, Err(ReduceError::Unknown { id }) if id == !info.id));
        a.combine(sent(&b)).unwrap();
        assert_eq!(finished::<(f64, Vec<u8>)>(a), (16.75, vec![2, 3, 1, 3]));
    }

    #[test]
    fn values_are_taken_in_as_they_are_where_the_reducer_is_of_such() {
        let info = ReduceInfo::of::<u32, Sum>().unwrap();
        let mut total = None;
        assert_eq!(AnyPartial::take_in(&mut total, !info.id, 3u32, 1), Some(3), "nobody knows it");
        assert_eq!(AnyPartial::take_in(&mut total, info.id, 3u64, 1), Some(3), "of other values");
        assert!(total.is_none());
        for (value, at) in [(3u32, 1), (4, 2)] {
            assert_eq!(AnyPartial::take_in(&mut total, info.id, value, at), None);
        }
        let max = ReduceInfo::of::<u32, Max>().unwrap();
        assert_eq!(AnyPartial::take_in(&mut total, max.id, 9u32, 3), Some(9), "another reducer");
        assert_eq!(AnyPartial::take_in(&mut total, info.id, "9", 3), Some("9"));
        assert_eq!(finished::<u32>(total.unwrap()), 7);
    }

    #[test]
    fn a_short_one_goes_in_words() {
        fn gone<T: Pup + Send + 'static, R: Reducer<T>>(value: T) -> Option<AnyPartial> {
            let partial = AnyPartial::lift::<T, R>(value, 5).unwrap();
            let (len, words) = partial.short()?;
            Some(AnyPartial::of_short(partial.id(), len, words).unwrap())
        }
        assert_eq!(finished::<i64>(gone::<_, Sum>(-7i64).unwrap()), -7);
        assert_eq!(finished::<f64>(gone::<_, Max>(-0.5f64).unwrap()), -0.5);
        finished::<()>(gone::<_, crate::Nothing>(()).unwrap());
        assert!(finished::<bool>(gone::<_, crate::All>(true).unwrap()));
        assert_eq!(finished::<usize>(gone::<_, Max>(7usize).unwrap()), 7);
        assert!(gone::<_, Concat>(1u8).is_none() && gone::<_, Sum>(1.5f64).is_none(), "these may be long");
        assert!(gone::<_, Latest>(1u8).is_none(), "the program reads it, and may find fault with it");
        let info = ReduceInfo::of::<i64, Sum>().unwrap();
        assert!(AnyPartial::of_short(info.id, 15, [0; 2]).is_err());
        assert!(AnyPartial::of_short(info.id, 17, [0; 2]).is_err());
        assert!(AnyPartial::of_short(!info.id, 16, [0; 2]).is_err());
    }

    /// Partial results of the program's own that are short as they are.
    #[derive(Clone, Copy)]
    struct Latest;

    #[derive(Pup)]
    struct Day(u8);

    impl Reducer<u8> for Latest {
        type Partial = Day;
        type Output = u8;

        fn lift(value: u8, _: u128) -> Day {
            Day(value)
        }
        fn combine(total: &mut Day, next: Day) {
            total.0 = total.0.max(next.0);
        }
        fn finish(total: Day) -> Result<u8, ReduceError> {
            Ok(total.0)
        }
    }

    #[test]
    fn passed_on_by_those_who_do_not_know_it() {
        let lift = |value: u32| AnyPartial::lift::<_, Sum>(value, 0).unwrap();
        let State::Known { info, .. } = lift(0).state else { panic!("made here") };
        let unknown = !info.id;
        let as_unknown = |partial: AnyPartial| {
            let state = match foreign(&partial).state {
                State::Foreign { parts, .. } => State::Foreign { id: unknown, parts },
                known => known,
            };
            AnyPartial { state, sole: None }
        };
        let mut passed_on = sent(&as_unknown(lift(1)));
        passed_on.combine(sent(&as_unknown(lift(2)))).unwrap();
        let bytes = to_bytes(&passed_on);
        assert!(matches!(passed_on.finish(), Err(ReduceError::Unknown { id }) if id == unknown));
        // Where the reducer is known, both parts count.
        let mut arrived = [info.id.to_le_bytes().as_slice(), &bytes[8..]].concat();
        assert_eq!(finished::<u32>(from_bytes(&arrived).unwrap()), 3);
        arrived.truncate(arrived.len() - 1);
        assert!(from_bytes::<AnyPartial>(&arrived).is_err());
    }

    #[test]
    fn what_came_before_the_reducer_was_known_is_joined_later() {
        let mut early = foreign(&AnyPartial::lift::<_, Sum>(1u64, 0).unwrap());
        early.add::<_, Sum>(2u64, 1).unwrap();
        let mut late = AnyPartial::lift::<_, Sum>(4u64, 2).unwrap();
        late.combine(foreign(&early)).unwrap();
        assert_eq!(finished::<u64>(late), 7);
    }

    #[test]
    fn two_reducers_do_not_mix() {
        let mut sum = AnyPartial::lift::<_, Sum>(1u8, 0).unwrap();
        let mixed = sum.add::<_, Max>(1u8, 0).unwrap_err().to_string();
        assert!(mixed.contains("Max") && mixed.contains("Sum"), "{mixed}");
        assert!(matches!(sum.add::<_, Sum>(1u16, 0), Err(ReduceError::Mismatch { .. })));
    }

    /// One box in the other.
    #[derive(Pup, Default)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    fn chain(levels: usize) -> Chain {
        (0..levels).fold(Chain::default(), |next, _| Chain { next: Some(Box::new(next)) })
    }

    /// Whose a refused partial result is, and the field.
    fn refusal(partial: &AnyPartial) -> (Option<u128>, String) {
        let mut p = Packer::new(Purpose::Message);
        // Inside of something else.
        p.nested::<u64>(|p| p.nested::<u64>(|p| partial.pack(p)));
        let why = p.refusal().expect("it is nested too deeply");
        (why.giver(), why.path())
    }

    const DEEP: usize = 3000;

    #[test]
    fn a_refusal_says_who_contributed_what_is_refused_and_where() {
        let (levels, shallow) = (|at| if at == 5 { DEEP } else { 1 }, [3, 4, 6, 7]);
        let mut concat = AnyPartial::lift::<_, Concat>(chain(levels(5)), 5).unwrap();
        let mut tuple = AnyPartial::lift::<_, (Sum, Concat)>((1u32, chain(levels(3))), 3).unwrap();
        for at in shallow {
            concat.add::<_, Concat>(chain(1), at).unwrap();
            tuple.add::<_, (Sum, Concat)>((1u32, chain(levels(at + 1))), at + 1).unwrap();
        }
        for partial in [concat, tuple] {
            let (giver, path) = refusal(&partial);
            assert_eq!(giver, Some(5));
            assert!(path.contains("Chain.next.next."), "{path}");
        }
    }

    impl crate::Merge for Chain {
        const COMMUTES: bool = true;

        fn merge(&mut self, other: Self) {
            if self.next.is_none() {
                self.next = other.next;
            }
        }
    }

    #[test]
    fn what_became_of_several_is_nobodys() {
        let lift = |levels, at| AnyPartial::lift::<_, crate::Merged>(chain(levels), at).unwrap();
        let alone = lift(DEEP, 7);
        assert_eq!(refusal(&alone).0, Some(7), "it was one");
        let mut joined = lift(0, 3);
        joined.combine(alone).unwrap();
        assert_eq!(refusal(&joined).0, None);
        let mut added = lift(0, 3);
        added.add::<_, crate::Merged>(chain(DEEP), 7).unwrap();
        assert_eq!(refusal(&added).0, None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes: Vec<u8>, part: Vec<u8>) {
            let _ = from_bytes::<AnyPartial>(&bytes);
            let info = ReduceInfo::of::<Vec<f64>, Sum>().unwrap();
            bytes = to_bytes(&(info.id, vec![part.clone(), part]));
            if let Ok(partial) = from_bytes::<AnyPartial>(&bytes) {
                let _ = partial.finish();
            }
        }
    }
}
