use proptest::prelude::*;

use super::*;

fn int() -> Datatype {
    Datatype::of(Basic::I32)
}

/// Displacements of all bytes, in the order of the type map.
fn bytes(datatype: &Datatype, count: u64) -> Vec<i64> {
    let mut all = Vec::new();
    datatype
        .try_runs(count, |at, basic, n| {
            all.extend(at..at + (n * basic.size()) as i64);
            Ok::<(), ()>(())
        })
        .unwrap();
    all
}

#[test]
fn what_has_no_gap_is_one_run() {
    let nested = int().contiguous(3).unwrap().vector(4, 2, 2).unwrap();
    assert_eq!(nested.map(), &Map::Run(Basic::I32, 24));
    assert!(nested.is_contiguous());
    let pair = Datatype::structure(&[(1, &int()), (2, &int())], &[0, 4]).unwrap();
    assert_eq!(pair.map(), &Map::Run(Basic::I32, 3));
}

#[test]
fn bounds_are_those_of_the_standard() {
    // MPI-3.1, example 4.2: {(double, 0), (char, 8)} has extent 16 when it is padded as a compiler does.
    let (double, char) = (Datatype::of(Basic::F64), Datatype::of(Basic::I8));
    let example = Datatype::structure(&[(1, &double), (1, &char)], &[0, 8]).unwrap();
    assert_eq!((example.size(), example.extent(), example.padded().extent()), (9, (0, 9), (0, 16)));
    // Example 4.5: a vector of two blocks of three with stride four, of that.
    let vector = example.padded().vector(2, 3, 4).unwrap();
    assert_eq!((vector.size(), vector.extent()), (54, (0, 112)));
    let back = int().hvector(3, 1, -8).unwrap();
    assert_eq!((back.extent(), back.true_extent()), ((-16, 20), (-16, 20)));
    assert_eq!(bytes(&back, 1), [0, 1, 2, 3, -8, -7, -6, -5, -16, -15, -14, -13]);
    let moved = int().hindexed(&[1], &[8]).unwrap();
    assert_eq!((moved.extent(), moved.span(2)), ((8, 4), Some((8, 16))));
    let wide = int().resized(-4, 16);
    assert_eq!((wide.extent(), wide.true_extent(), bytes(&wide, 2)[4]), ((-4, 16), (0, 4), 16));
    assert_eq!(int().contiguous(0).unwrap().extent(), (0, 0));
}

#[test]
fn subarrays_of_rows_and_of_columns() {
    // Two rows and three columns, from row 1 and column 2 on, of four rows and five columns.
    let part = int().subarray(&[(4, 2, 1), (5, 3, 2)], Order::RowMajor).unwrap();
    let cells: Vec<_> = bytes(&part, 1).into_iter().step_by(4).map(|at| at / 4).collect();
    assert_eq!((cells, part.extent()), (vec![7, 8, 9, 12, 13, 14], (0, 80)));
    let part = int().subarray(&[(4, 2, 1), (5, 3, 2)], Order::ColumnMajor).unwrap();
    let cells: Vec<_> = bytes(&part, 1).into_iter().step_by(4).map(|at| at / 4).collect();
    assert_eq!(cells, [9, 10, 13, 14, 17, 18]);
    let error = int().subarray(&[(4, 2, 3)], Order::RowMajor).unwrap_err();
    assert_eq!(error.to_string(), "dimension 0: 2 from 3 on is not within 4");
}

#[test]
fn impossible_ones_are_refused() {
    assert_eq!(int().contiguous(1 << 61), Err(BuildError::TooLarge));
    assert_eq!(int().vector(2, 1, i64::MAX / 2), Err(BuildError::TooLarge));
    assert_eq!(int().hindexed(&[1, 1], &[0]), Err(BuildError::Lists { lengths: 2, displacements: 1 }));
    let error = int().pack(2, &[0; 7], 0, &mut Vec::new()).unwrap_err();
    assert_eq!(error, OutOfBounds { at: 0, len: 7 });
    assert!(int().hvector(2, 1, -4).unwrap().unpack(1, &[0; 8], &mut [0; 8], 0).is_err());
    let mut table = Datatypes::default();
    assert_eq!(table.free(Datatypes::handle_of(Basic::F64)), Err(UnknownDatatype(11)));
    let handle = table.insert(int());
    table.free(handle).unwrap();
    assert_eq!(table.get(handle), Err(UnknownDatatype(handle)));
}

#[test]
fn external32_is_big_endian() {
    let (short, complex) = (Datatype::of(Basic::I16), Datatype::of(Basic::C32));
    let both = Datatype::structure(&[(1, &short), (1, &complex)], &[0, 4]).unwrap();
    let mut memory = 0x0102i16.to_le_bytes().to_vec();
    memory.extend([0xff, 0xff]);
    memory.extend(1.0f32.to_le_bytes());
    memory.extend((-2.0f32).to_le_bytes());
    let mut packed = Vec::new();
    both.pack_external32(1, &memory, 0, &mut packed).unwrap();
    assert_eq!(packed, [1, 2, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    let mut back = vec![0xff; 12];
    both.unpack_external32(1, &packed, &mut back, 0).unwrap();
    assert_eq!(back, memory);
}

#[test]
fn external32_has_lengths_of_its_own() {
    let written = |basic: Basic, native: &[u8]| {
        let (datatype, mut bytes) = (Datatype::of(basic), Vec::new());
        datatype.pack_external32(1, native, 0, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, datatype.external_size());
        let mut back = vec![0; native.len()];
        datatype.unpack_external32(1, &bytes, &mut back, 0).unwrap();
        (bytes, back == native)
    };
    assert_eq!(written(Basic::Long, &(-2i64).to_le_bytes()), (vec![0xff, 0xff, 0xff, 0xfe], true));
    assert_eq!(written(Basic::UnsignedLong, &u64::MAX.to_le_bytes()), (vec![0xff; 4], false));
    assert_eq!(written(Basic::WideChar, &0x20aci32.to_le_bytes()), (vec![0x20, 0xac], true));
    let pair = crate::op::Location::datatype(Basic::Long).unwrap();
    assert_eq!((pair.size(), pair.external_size()), (12, 8));
    // -1.5, by its exponent of 15 bits and a fraction of 112: the first bit of the fraction of 80 bits is not written.
    let long_double = [&0xc000_0000_0000_0000u64.to_le_bytes()[..], &[0xff, 0xbf], &[0; 6]].concat();
    let mut expected = vec![0xbf, 0xff, 0x80];
    expected.resize(16, 0);
    assert_eq!(written(Basic::F80, &long_double), (expected.clone(), true));
    assert_eq!(written(Basic::C80, &long_double.repeat(2)), (expected.repeat(2), true));
    // One of 128 bits only changes the order of its bytes, and each half of a complex one does.
    let (ordered, swapped): (Vec<u8>, Vec<u8>) = ((0..16).collect(), (0..16).rev().collect());
    assert_eq!(written(Basic::F128, &ordered), (swapped.clone(), true));
    assert_eq!(written(Basic::C128, &ordered.repeat(2)), (swapped.repeat(2), true));
}

#[test]
fn structures_of_numbers_of_128_bits_are_as_long_as_a_compiler_makes_them() {
    for (basic, size) in [(Basic::F128, 16), (Basic::C80, 32), (Basic::C128, 32)] {
        assert_eq!((basic.size(), basic.align()), (size, 16), "{basic:?}");
    }
}

#[test]
fn predefined_datatypes_are_renamed_and_made_ones_are_found_by_how_they_were_made() {
    let mut datatypes = Datatypes::default();
    let number = Named::handle("MPI_INT").unwrap();
    assert_eq!(datatypes.name(number), Ok("MPI_INT"));
    datatypes.rename(number, "a number".into()).unwrap();
    assert_eq!(datatypes.name(number), Ok("a number"));
    let envelope = Envelope { combiner: Combiner::F90Real, integers: vec![6, 30], ..Envelope::NAMED };
    assert_eq!(datatypes.made_by(&envelope), None);
    let made = datatypes.insert_made(Datatype::of(Basic::F32), envelope.clone());
    datatypes.rename(made, "mine".into()).unwrap();
    assert_eq!((datatypes.made_by(&envelope), datatypes.name(made)), (Some(made), Ok("mine")));
    datatypes.release(made).unwrap();
    assert_eq!(datatypes.made_by(&envelope), None, "it was freed");
    assert!(datatypes.name(made).is_err() && datatypes.rename(made, String::new()).is_err());
}

#[test]
fn a_long_double_from_external32_is_rounded() {
    let read = |bits: u128| {
        let mut back = [0; 16];
        Datatype::of(Basic::F80).unpack_external32(1, &bits.to_be_bytes(), &mut back, 0).unwrap();
        (u64::from_le_bytes(back[..8].try_into().unwrap()), u16::from_le_bytes([back[8], back[9]]))
    };
    let one = 0x3fffu128 << 112;
    assert_eq!(read(one | 1 << 49), (1 << 63 | 1, 0x3fff));
    assert_eq!(read(one | 1 << 48), (1 << 63, 0x3fff), "half is rounded to the even one");
    assert_eq!(read(one | 3 << 48), (1 << 63 | 2, 0x3fff));
    assert_eq!(read(one | u128::MAX >> 16), (1 << 63, 0x4000), "the carry goes to the exponent");
    assert_eq!(read(0x7fff << 112), (1 << 63, 0x7fff), "infinity");
    assert_eq!(read(0), (0, 0));
}

fn datatype() -> impl Strategy<Value = Datatype> {
    let basic = prop::sample::select(&BASICS[..]).prop_map(Datatype::of);
    basic.prop_recursive(3, 12, 3, |inner| {
        let lists = prop::collection::vec((0..3u64, 0..90i64), 0..4);
        prop_oneof![
            (inner.clone(), 0..4u64).prop_map(|(of, n)| of.contiguous(n).unwrap()),
            (inner.clone(), 0..4u64, 0..3u64, -5..6i64)
                .prop_map(|(of, n, len, by)| of.vector(n, len, by).unwrap()),
            (inner.clone(), lists).prop_map(|(of, blocks)| {
                let (lengths, at): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
                of.hindexed(&lengths, &at).unwrap()
            }),
            (inner.clone(), inner.clone(), 0..90i64).prop_map(|(a, b, at)| Datatype::structure(
                &[(1, &a), (2, &b)],
                &[at, 0]
            )
            .unwrap()),
            (inner, 0..300i64).prop_map(|(of, extent)| of.resized(-8, extent)),
        ]
    })
}

proptest! {
    #[test]
    fn packing_takes_the_bytes_of_the_type_map_in_order(datatype in datatype(), count in 0..3u64) {
        const ORIGIN: usize = 40_000;
        let memory: Vec<u8> = (0..2 * ORIGIN).map(|at| (at * 31 % 251) as u8).collect();
        let mut packed = Vec::new();
        datatype.pack(count, &memory, ORIGIN, &mut packed).unwrap();
        let places = bytes(&datatype, count);
        let expected: Vec<u8> = places.iter().map(|at| memory[(ORIGIN as i64 + at) as usize]).collect();
        prop_assert_eq!(&packed, &expected);
        prop_assert_eq!(packed.len() as u64, count * datatype.size());
        let (low, high) = datatype.span(count).unwrap_or_default();
        prop_assert_eq!(places.iter().min().copied().unwrap_or(0), low);
        prop_assert_eq!(places.iter().max().map_or(0, |at| at + 1), high);
        let mut back = vec![0; memory.len()];
        datatype.unpack(count, &packed, &mut back, ORIGIN).unwrap();
        for at in places {
            let at = (ORIGIN as i64 + at) as usize;
            prop_assert_eq!(back[at], memory[at]);
        }
        let moved: Datatype = talisman_pup::from_bytes(&talisman_pup::to_bytes(&datatype)).unwrap();
        prop_assert_eq!(moved, datatype);
    }
}

#[test]
fn what_was_freed_stays_while_something_is_made_of_it() {
    let mut all = Datatypes::default();
    let make = |all: &mut Datatypes, of: Vec<u32>| {
        let envelope = Envelope { combiner: Combiner::Contiguous, datatypes: of, ..Envelope::NAMED };
        all.insert_made(int(), envelope)
    };
    let inner = make(&mut all, vec![0]);
    let outer = make(&mut all, vec![inner]);
    assert_eq!((all.release(inner), all.release(inner)), (Ok(true), Err(UnknownDatatype(inner))));
    all.sweep();
    assert!(all.get(inner).is_ok() && all.made(inner).is_none() && all.has_freed());
    // The program asks for what the outer one is made of.
    all.hold(inner);
    assert!(all.made(inner).is_some());
    assert_eq!((all.release(outer), all.release(inner)), (Ok(true), Ok(true)));
    all.sweep();
    assert!(all.get(inner).is_err() && all.get(outer).is_err() && !all.has_freed());
}

#[test]
fn names_are_those_of_their_values() {
    for (handle, basic) in BASICS.iter().enumerate() {
        assert_eq!(NAMED[handle].shape, Shape::One(*basic));
    }
    let size = |name: &str| NAMED[Named::handle(name).unwrap() as usize].datatype().extent();
    assert_eq!([size("MPI_DOUBLE_INT"), size("MPI_SHORT_INT"), size("MPI_2INT")], [(0, 16), (0, 8), (0, 8)]);
    assert_eq!([size("MPI_LONG_DOUBLE_INT"), size("MPI_LONG_DOUBLE")], [(0, 32), (0, 16)]);
}
