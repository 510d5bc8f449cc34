//! Tuples: their parts in order.

use crate::id::named;
use crate::{Lender, Named, Packer, Pup, PupError, Unpacker};

named!("()", ());
impl Pup for () {
    fn pack(&self, _: &mut Packer) {}
    fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(())
    }
}

macro_rules! tuple {
    ($($type:ident $i:tt)+) => {
        impl<$($type: Pup),+> Pup for ($($type,)+) {
            const MIN_SIZE: usize = 0 $(+ $type::MIN_SIZE)+;

            #[inline]
            fn pack(&self, p: &mut Packer) {
                $(self.$i.pack(p);)+
            }
            #[inline]
            fn lend<'a>(&'a self, l: &mut Lender<'a>) {
                $(self.$i.lend(l);)+
            }
            #[inline]
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                Ok(($($type::unpack(u).map_err(|e| e.field(stringify!($i)))?,)+))
            }
        }

        impl<$($type: Named),+> Named for ($($type,)+) {
            const KEY: u64 = {
                let key = crate::key("tuple");
                $(let key = crate::join(key, $type::KEY);)+
                key
            };
            fn name() -> String {
                format!("({})", [$($type::name()),+].join(", "))
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0 B 1);
tuple!(A 0 B 1 C 2);
tuple!(A 0 B 1 C 2 D 3);
tuple!(A 0 B 1 C 2 D 3 E 4);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
