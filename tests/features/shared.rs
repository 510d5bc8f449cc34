//! Shared values that come after what refers to them: everything waits for them, and nothing is lost.

use talisman::function::Function;
use talisman::prelude::*;

/// A value that refers to another, which its node may get later.
#[derive(Pup)]
struct Table {
    of: u32,
    values: Shared<Vec<u64>>,
}

#[derive(Pup)]
struct Member {
    all: Option<Group<Member>>,
    seen: Vec<Shared<Table>>,
    heard: u32,
}

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member { all: None, seen: vec![], heard: 0 }
    }

    #[entry]
    fn make(&mut self, cx: &mut Cx<Self>) -> Shared<Table> {
        let values = cx.share(vec![u64::from(cx.pe()); 3000]);
        cx.share(Table { of: cx.pe(), values })
    }

    /// Answers that overtake the values in them.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, all: Group<Member>) -> u64 {
        self.all = Some(all);
        let mut sum: u64 = 0;
        for pe in 0..cx.pes() {
            let table: Shared<Table> = all.on(pe).make().await;
            assert_eq!((table.of, table.values.len()), (pe, 3000));
            sum += table.values[2999];
            self.seen.push(table);
        }
        sum
    }

    /// What this member saw, in a reduction; and to a function, a new element, one that moves, and a broadcast.
    #[entry]
    fn pass_on(&mut self, cx: &mut Cx<Self>, movers: Array<Mover>) -> Vec<Shared<Table>> {
        let values = cx.share(vec![7; 3000]);
        let table = cx.share(Table { of: cx.pe(), values });
        let pe = (cx.pe() + 1) % cx.pes();
        Callback::function::<Tell>(pe).send((self.all.expect("asked before"), table.clone()));
        Loner::chare().on(pe).new(self.all.expect("asked before"), table.clone());
        movers.insert(cx.pe() as i32).new(self.all.expect("asked before"), table.clone());
        movers.at(cx.pe() as i32).go(pe);
        self.all.expect("asked before").hear(table.clone());
        vec![table]
    }

    #[entry]
    fn hear(&mut self, table: Shared<Table>) {
        assert_eq!(table.values[2999], 7);
        self.heard += 1;
    }

    #[entry]
    fn heard(&mut self) -> u32 {
        self.heard
    }
}

/// Called on the next PE.
struct Tell;

impl Function for Tell {
    const NAME: &'static str = "shared::Tell";
    type Value = (Group<Member>, Shared<Table>);

    fn call((all, table): Self::Value) {
        all.here().hear(table);
    }
}

talisman::register_function!(Tell);

#[derive(Pup)]
struct Loner;

#[chare(single)]
impl Loner {
    #[init]
    fn new(all: Group<Member>, table: Shared<Table>) -> Self {
        all.here().hear(table);
        Loner
    }
}

#[derive(Pup)]
struct Mover {
    all: Group<Member>,
    table: Shared<Table>,
}

#[chare(array1d)]
impl Mover {
    #[init]
    fn new(all: Group<Member>, table: Shared<Table>) -> Self {
        Mover { all, table }
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, to: u32) {
        cx.migrate_to(to);
        cx.me().arrived();
    }

    #[entry]
    fn arrived(&mut self, _cx: &mut Cx<Self>) {
        self.all.here().hear(self.table.clone());
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let pes: u64 = u64::from(cx.pes());
    let all: Group<Member> = Member::group().new();
    let sum: u64 = all.ask(all).reduce(Sum).await;
    assert_eq!(sum, pes * (0..pes).sum::<u64>());
    let movers: Array<Mover> = Mover::sparse();
    let seen: Vec<Vec<Shared<Table>>> = all.pass_on(movers).reduce(Concat).await;
    assert_eq!(seen.len() as u64, pes);
    assert!((0..).zip(&seen).all(|(pe, seen)| seen[0].of == pe && seen[0].values[0] == 7));
    cx.quiescence().await;
    let heard: u32 = all.heard().reduce(Sum).await;
    assert_eq!(u64::from(heard), pes * (pes + 3));
    writeln!(cx.output(), "nothing was lost");
}

#[test]
fn what_comes_too_early_waits() {
    crate::common::same_with_all_nodes::<__Main, _>(|| (), &["nothing was lost"]);
    for seed in 100..140 {
        let tested = talisman::testing::Test::new().pes(2).simulated(4, seed).run::<__Main>(());
        crate::common::assert_ended_well(&format!("seed {seed}"), &tested);
        assert_eq!(tested.output, ["nothing was lost"]);
    }
}
