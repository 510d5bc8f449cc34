//! The data representation "external32" (MPI-3.1, 13.5.2): big-endian, without gaps, and with lengths of its own: a
//! `long` of C has four bytes, a `wchar_t` two, a `long double` is a floating-point number of 128 bits.

use super::{Basic, Datatype, Map, OutOfBounds};

impl Basic {
    /// Bytes that a value has in external32.
    pub fn external_size(self) -> u64 {
        match self {
            Basic::Long | Basic::UnsignedLong => 4,
            Basic::WideChar => 2,
            other => other.size(),
        }
    }

    /// A value in external32. Of one that has fewer bytes there the upper ones are lost.
    fn write_external(self, native: &[u8], external: &mut [u8]) {
        match self {
            Basic::F80 | Basic::C80 => {
                let numbers = native.chunks_exact(16).zip(external.chunks_exact_mut(16));
                numbers.for_each(|(from, to)| to.copy_from_slice(&quadruple(from)));
            }
            _ => {
                let unit = self.unit().min(self.external_size()) as usize;
                let units = native.chunks_exact(self.unit() as usize).zip(external.chunks_exact_mut(unit));
                for (from, to) in units {
                    to.copy_from_slice(&from[..unit]);
                    to.reverse();
                }
            }
        }
    }

    /// A value from external32.
    fn read_external(self, external: &[u8], native: &mut [u8]) {
        match self {
            Basic::F80 | Basic::C80 => {
                let numbers = external.chunks_exact(16).zip(native.chunks_exact_mut(16));
                numbers.for_each(|(from, to)| to.copy_from_slice(&extended(from)));
            }
            _ => {
                let unit = self.unit().min(self.external_size()) as usize;
                let units = external.chunks_exact(unit).zip(native.chunks_exact_mut(self.unit() as usize));
                for (from, to) in units {
                    let is_negative = self == Basic::Long && from[0] >= 0x80;
                    to.fill(if is_negative { 0xff } else { 0 });
                    to[..unit].copy_from_slice(from);
                    to[..unit].reverse();
                }
            }
        }
    }
}

/// Bits of a fraction that a number of 128 bits has, and one of 80 has not, which has 63 behind its first one.
const FINER: u32 = 112 - 63;

/// A floating-point number of 80 bits as one of 128, big-endian. Exponents are the same; the first bit of the fraction
/// is not written.
fn quadruple(native: &[u8]) -> [u8; 16] {
    let bytes: [u8; 16] = std::array::from_fn(|at| native.get(at).copied().unwrap_or_default());
    let bits = u128::from_le_bytes(bytes);
    let (fraction, sign_and_exponent) = (bits & (u128::MAX >> 65), bits >> 64 & 0xffff);
    (sign_and_exponent << 112 | fraction << FINER).to_be_bytes()
}

/// A floating-point number of 128 bits as one of 80, rounded to the nearest, of two to the even one.
fn extended(external: &[u8]) -> [u8; 16] {
    let bytes: [u8; 16] = std::array::from_fn(|at| external.get(at).copied().unwrap_or_default());
    let bits = u128::from_be_bytes(bytes);
    let (rest, half) = (bits & ((1 << FINER) - 1), 1u128 << (FINER - 1));
    let kept = bits >> FINER;
    let is_number = bits >> 112 & 0x7fff != 0x7fff;
    let is_up = is_number && (rest > half || rest == half && kept & 1 == 1);
    // What is carried over goes to the exponent, as it has to.
    let rounded = kept + u128::from(is_up);
    let (fraction, sign_and_exponent) = (rounded & (u128::MAX >> 65), rounded >> 63);
    let first = u128::from(sign_and_exponent & 0x7fff != 0) << 63;
    (sign_and_exponent << 64 | first | fraction).to_le_bytes()
}

impl Map {
    /// The same as it lies in a file in external32: what follows without a gap in memory does so there, and gaps stay.
    fn in_external32(&self) -> Map {
        match self {
            Map::Run(basic, n) if basic.external_size() == basic.size() => Map::Run(*basic, *n),
            Map::Run(basic, n) => Map::Run(Basic::Byte, n.saturating_mul(basic.external_size())),
            Map::Repeat(count, stride, inner) => {
                let made = inner.in_external32();
                let stride = if *stride == inner.size() as i64 { made.size() as i64 } else { *stride };
                made.repeat(*count, stride)
            }
            Map::At(parts) => {
                let (mut end, mut external_end) = (0, 0);
                let place = |(at, map): &(i64, Map)| {
                    let made = map.in_external32();
                    let begins = if *at == end { external_end } else { *at };
                    end = at.saturating_add_unsigned(map.size());
                    external_end = begins.saturating_add_unsigned(made.size());
                    (begins, made)
                };
                Map::at(parts.iter().map(place).collect())
            }
        }
    }
}

impl Datatype {
    /// As it lies in a file in external32.
    #[must_use]
    pub fn in_external32(&self) -> Datatype {
        let map = self.map.in_external32();
        let (size, external_size) = (self.size() as i64, map.size() as i64);
        let extent = if self.extent == size { external_size } else { self.extent };
        Datatype { map, lower: self.lower, extent }
    }

    /// Bytes of its values in external32 (`MPI_Pack_external_size`).
    pub fn external_size(&self) -> u64 {
        let mut bytes = 0u64;
        self.map.each_run(0, &mut |_, basic, n| bytes = bytes.saturating_add(n * basic.external_size()));
        bytes
    }

    /// From packed values to external32. Values that are there in part only are left out. How many bytes that are.
    pub fn write_external32(&self, count: u64, packed: &[u8], external: &mut [u8]) -> usize {
        let (mut from, mut to) = (0, 0);
        self.each_value(count, |basic| {
            let (size, external_size) = (basic.size() as usize, basic.external_size() as usize);
            let (Some(native), Some(written)) =
                (packed.get(from..from + size), external.get_mut(to..to + external_size))
            else {
                return false;
            };
            basic.write_external(native, written);
            (from, to) = (from + size, to + external_size);
            true
        });
        to
    }

    /// From external32 to packed values. Values that are there in part only are left out. How many bytes that are.
    pub fn read_external32(&self, count: u64, external: &[u8], packed: &mut [u8]) -> usize {
        let (mut from, mut to) = (0, 0);
        self.each_value(count, |basic| {
            let (size, external_size) = (basic.size() as usize, basic.external_size() as usize);
            let (Some(written), Some(native)) =
                (external.get(from..from + external_size), packed.get_mut(to..to + size))
            else {
                return false;
            };
            basic.read_external(written, native);
            (from, to) = (from + external_size, to + size);
            true
        });
        to
    }

    /// Calls back with the kind of each value of `count` of them, until it says false.
    fn each_value(&self, count: u64, mut call: impl FnMut(Basic) -> bool) {
        // It fails where no value is left.
        let _end = self.try_runs(count, |_, basic, n| match (0..n).all(|_| call(basic)) {
            true => Ok(()),
            false => Err(()),
        });
    }

    /// As [`Datatype::pack`], in external32 (`MPI_Pack_external`).
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn pack_external32(
        &self,
        count: u64,
        memory: &[u8],
        origin: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), OutOfBounds> {
        let mut packed = Vec::new();
        self.pack(count, memory, origin, &mut packed)?;
        let start = out.len();
        out.resize(start + (count * self.external_size()) as usize, 0);
        self.write_external32(count, &packed, &mut out[start..]);
        Ok(())
    }

    /// As [`Datatype::unpack`], from external32 (`MPI_Unpack_external`).
    ///
    /// # Errors
    /// If a value is not within the memory.
    pub fn unpack_external32(
        &self,
        count: u64,
        external: &[u8],
        memory: &mut [u8],
        origin: usize,
    ) -> Result<(), OutOfBounds> {
        let mut packed = vec![0; (count * self.size()) as usize];
        let bytes = self.read_external32(count, external, &mut packed);
        self.unpack(count, &packed[..bytes], memory, origin)
    }
}
