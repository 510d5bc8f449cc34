//! Tuples of values, each member by a reducer of its own.

use super::{Elementwise, ReduceError, Reducer};

macro_rules! tuples {
    ($(($($r:ident $t:ident $i:tt),*))*) => { $(
        impl<$($r: Elementwise),*> Elementwise for ($($r,)*) {}

        impl<$($t, $r: Reducer<$t>),*> Reducer<($($t,)*)> for ($($r,)*) {
            type Partial = ($($r::Partial,)*);
            type Output = ($($r::Output,)*);

            fn lift(value: ($($t,)*), at: u128) -> Self::Partial {
                ($($r::lift(value.$i, at),)*)
            }
            fn combine(total: &mut Self::Partial, next: Self::Partial) {
                $($r::combine(&mut total.$i, next.$i);)*
            }
            fn add(total: &mut Self::Partial, value: ($($t,)*), at: u128) {
                $($r::add(&mut total.$i, value.$i, at);)*
            }
            fn finish(total: Self::Partial) -> Result<Self::Output, ReduceError> {
                Ok(($($r::finish(total.$i)?,)*))
            }
        }
    )* };
}

tuples! {
    (A T 0, B U 1)
    (A T 0, B U 1, C V 2)
    (A T 0, B U 1, C V 2, D W 3)
    (A T 0, B U 1, C V 2, D W 3, E X 4)
    (A T 0, B U 1, C V 2, D W 3, E X 4, F Y 5)
}
