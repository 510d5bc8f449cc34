//! What the macros write is free of warnings in the crate of a user, whatever lints are on there, and a chare may look
//! in many ways.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]

mod common;

/// A chare with a little of everything.
pub mod wide {
    use talisman::prelude::*;

    /// What is kept of a message.
    #[derive(Pup, Clone, Default)]
    pub struct Note<T> {
        /// Who wrote it.
        pub from: Option<T>,
        /// How often it was read.
        pub read: u32,
    }

    /// Has generic parameters with bounds in both places.
    #[derive(Pup)]
    pub struct Wide<T: Value, const N: usize>
    where
        T: Clone,
    {
        notes: Vec<Note<T>>,
        sums: [u64; N],
    }

    #[chare(array2d, ordered, instances(Wide<String, 3>, Wide<u8, 1>))]
    impl<T: Value, const N: usize> Wide<T, N>
    where
        T: Clone,
    {
        /// Documented, as it is public.
        #[init]
        pub fn new() -> Self {
            Wide { notes: vec![], sums: [0; N] }
        }

        /// Has as many arguments as there may be.
        #[allow(clippy::too_many_arguments)]
        #[init]
        pub(crate) fn with(
            one: u8,
            twice: i16,
            x: f64,
            name: String,
            from: Vec<T>,
            each: [u32; N],
            may: Option<bool>,
            two: (u8, u8),
        ) -> Self {
            drop((one, twice, x, name, each, may, two));
            Wide {
                notes: from.into_iter().map(|from| Note { from: Some(from), read: 0 }).collect(),
                sums: [0; N],
            }
        }

        /// Has as many arguments as there may be.
        #[entry]
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        pub fn eight(
            &mut self,
            one: u8,
            twice: i16,
            x: f64,
            name: String,
            from: Vec<T>,
            each: [u32; N],
            may: Option<bool>,
            two: (u8, u8),
        ) {
            drop((twice, x, name, from, each, may, two));
            self.sums[0] += u64::from(one);
        }

        #[entry(priority = -1)]
        pub(crate) fn near(&mut self, cx: &mut Cx<Self>, of: Self::Index, r#type: u8) {
            let _ = (of, cx.index(), r#type);
        }

        #[entry]
        pub(super) fn give(&self, index: Self::Index) -> (Self::Index, Vec<Note<T>>) {
            (index, self.notes.clone())
        }

        #[entry(ack, expedited)]
        fn touch(&mut self) {
            self.helper();
        }

        /// An old name.
        #[entry]
        #[deprecated = "use `touch`"]
        pub fn old(&mut self) {
            self.helper();
        }

        #[entry]
        #[expect(unused_variables)]
        fn unused(&mut self, what: T, mut how: u8) {
            how += 1;
            let _ = how;
        }

        /// Kept until it is received.
        #[entry]
        pub fn note(number: u32, note: Note<T>);

        #[entry]
        pub(crate) fn stop();

        /// Waits in every way.
        #[entry]
        pub async fn run(
            &mut self,
            cx: &mut Cx<Self>,
            mut rounds: u32,
            target: Proxy<Self>,
        ) -> Result<u64, String> {
            const STEP: u32 = 1;
            for number in 0..rounds {
                let note = cx.when(Self::note, number).await;
                self.notes.push(note);
            }
            let (_, notes): ((i32, i32), Vec<Note<T>>) = target.give(cx.index()).await;
            self.notes.extend(notes);
            let _: u64 = self.part(cx, rounds).await?;
            cx.overlap(
                async {
                    target.touch().await;
                },
                async {
                    cx.barrier().await;
                },
            )
            .await;
            'outer: loop {
                match cx.when_any().await {
                    Self::stop() => break 'outer,
                    Self::note(number, note) if number > rounds => {
                        rounds = number + STEP;
                        self.notes.push(note);
                    }
                }
            }
            let total: u64 = cx.all_reduce(self.sums[0], Sum).await;
            Ok(total)
        }

        async fn part(&mut self, cx: &mut Cx<Self>, rounds: u32) -> Result<u64, String> {
            if rounds > 9 {
                return Err("too many".into());
            }
            cx.barrier().await;
            Ok(self.sums[0])
        }

        #[restored]
        fn restored(&mut self, why: Restored) {
            let _ = why;
            self.helper();
        }

        #[cfg(unix)]
        fn helper(&mut self) {
            self.sums[N - 1] += 1;
        }

        #[cfg(not(unix))]
        fn helper(&mut self) {
            self.sums[0] += 1;
        }

        const NAMES: usize = 2;
    }

    impl<T: Value + Clone, const N: usize> Wide<T, N> {
        /// Another impl block of the chare.
        #[must_use]
        pub fn names() -> usize {
            Self::NAMES
        }
    }
}

/// Two modules have a chare of the same name each, and one is an enum.
pub mod same_name {
    /// An enum is a chare as well.
    pub mod one {
        use talisman::prelude::*;

        /// How warm it is.
        #[derive(Pup)]
        pub enum State {
            /// It is not.
            Cold,
            /// This warm.
            Warm(f64),
        }

        #[chare(group)]
        impl State {
            /// Starts cold.
            #[init]
            pub fn new() -> Self {
                State::Cold
            }

            /// Becomes warmer.
            #[entry]
            pub fn warm(&mut self, by: f64) {
                *self = match self {
                    State::Cold => State::Warm(by),
                    State::Warm(before) => State::Warm(*before + by),
                }
            }

            /// Adds up over the group.
            #[entry]
            pub fn sum(&self, cx: &mut Cx<Self>, to: Callback<f64>) {
                let mine = if let State::Warm(mine) = self { *mine } else { 0.0 };
                cx.contribute(mine, Sum, to);
            }
        }
    }

    pub(crate) mod two {
        use talisman::prelude::*;

        #[derive(Pup)]
        pub(crate) struct State;

        #[chare(single)]
        impl State {
            #[init]
            pub(crate) fn new() -> Self {
                State
            }

            #[entry]
            pub(crate) fn twice(&self, x: f64) -> Result<f64, String> {
                if x < 0.0 { Err(format!("{x} is negative")) } else { Ok(2.0 * x) }
            }

            #[entry]
            pub(crate) fn check(&self, x: f64) -> Result<(), String> {
                if x < 0.0 { Err(format!("no, {x}")) } else { Ok(()) }
            }
        }
    }
}

/// Uses them, and `?` behind an `.await`.
mod program {
    use super::same_name::{one, two};
    use super::wide::{Note, Wide};
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Main {
        helper: Proxy<two::State>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().start();
            Main { helper: two::State::chare().new() }
        }

        #[entry]
        async fn start(&mut self, cx: &mut Cx<Self>) {
            let four: Result<f64, String> = self.doubled(cx, 2.0).await;
            let refused: Result<f64, String> = self.doubled(cx, -2.0).await;
            let unchecked: Result<(), String> = self.checked(cx, -1.0).await;
            writeln!(cx.output(), "{four:?} {refused:?} {unchecked:?}");
            let total: Result<u64, String> = self.walls(cx).await;
            writeln!(cx.output(), "{total:?}");
            let group: Group<one::State> = one::State::group().new();
            group.warm(1.5);
            group.sum(cx.callback(Self::warmth));
        }

        #[entry]
        fn warmth(&mut self, cx: &mut Cx<Self>, sum: f64) {
            writeln!(cx.output(), "{}", sum - 1.5 * f64::from(cx.pes()));
            cx.exit();
        }

        async fn doubled(&mut self, cx: &mut Cx<Self>, x: f64) -> Result<f64, String> {
            self.checked(cx, x + 10.0).await?;
            let twice: f64 = self.helper.twice(x).await?;
            self.helper.check(twice).await?;
            Ok(twice)
        }

        async fn checked(&mut self, cx: &mut Cx<Self>, x: f64) -> Result<(), String> {
            let _ = cx;
            self.helper.check(x).await
        }

        async fn walls(&mut self, cx: &mut Cx<Self>) -> Result<u64, String> {
            let walls = Wide::<String, 3>::array((2, 1)).new();
            let one: Proxy<Wide<String, 3>> = walls.at((0, 0));
            let other: Proxy<Wide<String, 3>> = walls.at((1, 0));
            one.eight(7, 0, 0.0, String::new(), vec![], [0; 3], None, (0, 0));
            for wall in [one, other] {
                wall.note(5, Note { from: None, read: 1 });
                wall.note(0, Note::default());
            }
            walls.stop();
            let (mut first, mut second): (Result<u64, String>, Result<u64, String>) = (Ok(0), Ok(0));
            cx.overlap(
                async {
                    let got: Result<u64, String> = one.run(1, other).await;
                    first = got;
                },
                async {
                    let got: Result<u64, String> = other.run(1, one).await;
                    second = got;
                },
            )
            .await;
            Ok(first? + second?)
        }
    }

    #[test]
    fn runs() {
        let lines = ["Ok(4.0) Err(\"-2 is negative\") Err(\"no, -1\")", "Ok(14)", "0"];
        crate::common::same_with_all_nodes::<Main, _>(|| (), &lines);
    }
}
