// kinds
use talisman::prelude::*;

#[derive(Pup)]
struct Counter { seen: u64 }
#[chare(group)] // one per PE; `nodegroup`: one per node
impl Counter {
    #[init] pub fn new() -> Self { Counter { seen: 0 } }
    #[entry] pub fn count(&mut self, n: u64) { self.seen += n } // `pub` here is `pub` on proxies
    #[entry] pub fn total(&mut self, cx: &mut Cx<Self>, to: Callback<u64>) { cx.contribute(self.seen, Sum, to) }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)] // integers, at most 128 bits together
struct Site { level: u8, code: u64 }

#[derive(Pup, Debug)]
struct Range { low: f64, high: f64 }
impl Merge for Range { // a reducer of one's own: a type that takes in another of its kind, used with `Merged`
    fn merge(&mut self, o: Self) { *self = Range { low: self.low.min(o.low), high: self.high.max(o.high) } }
}

#[derive(Pup)]
#[pup(version = 2)]
struct Leaf<T> {
    value: T, counter: Group<Counter>, tree: Proxy<Tree>,
    #[pup(since = 2, default = 1.0)] weight: f64, // not in checkpoints of version 1
    #[pup(skip)] cache: Vec<u64>,                 // not packed; also: serde, with = module
}
#[chare(array(Site), instances(Leaf<f64>))] // a generic chare names its instances here, or in `talisman::register!(…)`
impl<T: Value + Copy + Into<f64>> Leaf<T> {
    #[init]
    fn new(value: T, counter: Group<Counter>, tree: Proxy<Tree>) -> Self {
        Leaf { value, counter, tree, weight: 1.0, cache: vec![] }
    }
    #[entry]
    fn report(&mut self, cx: &mut Cx<Self>) {
        let v: f64 = self.value.into() * self.weight;
        self.counter.here().count(1);
        cx.contribute(Range { low: v, high: v }, Merged, self.tree.callback(Tree::range)); // Callback<Range>
        cx.contribute((v, [v, 1.0]), (Max, Sum), self.tree.callback(Tree::both)); // spread over two arguments
        cx.contribute(v, Concat, self.tree.callback(Tree::all).with("all".into())); // first argument filled in now
    }
    #[entry]
    fn part(&mut self, cx: &mut Cx<Self>, part: Section<Self>) {
        cx.contribute_to(part, self.value.into(), Sum, self.tree.callback(Tree::part));
    }
    #[restored]
    fn restored(&mut self, cx: &mut Cx<Self>, why: Restored) { self.cache = vec![cx.index().code, why as u64] }
}

#[derive(Pup)]
struct Tree { counter: Group<Counter>, results: u32 }
#[chare(single)]
impl Tree {
    #[init] fn new(counter: Group<Counter>) -> Self { Tree { counter, results: 0 } }
    #[entry]
    fn grow(&mut self, cx: &mut Cx<Self>) {
        let (leaves, site) = (Leaf::<f64>::sparse(), |code| Site { level: 1, code });
        leaves.at(site(2)).report(); // kept until that element exists
        for code in 0..3 { leaves.insert(site(code)).new(code as f64, self.counter, cx.me()); }
        leaves.done_inserting();
        for code in 0..2 { leaves.at(site(code)).report() }
        let part = leaves.section([site(1), site(2)]);
        part.part(part); // called like an array, sent like any value
    }
    #[entry] fn range(&mut self, cx: &mut Cx<Self>, r: Range) { writeln!(cx.output(), "{r:?}"); self.result() }
    #[entry] fn both(&mut self, cx: &mut Cx<Self>, max: f64, sums: [f64; 2]) { writeln!(cx.output(), "{max} {sums:?}"); self.result() }
    #[entry] fn all(&mut self, cx: &mut Cx<Self>, title: String, v: Vec<f64>) { writeln!(cx.output(), "{title} {v:?}"); self.result() }
    #[entry] fn part(&mut self, _sum: f64) { self.result() }
}
impl Tree {
    fn result(&mut self) { // the section's result may come before the others: they are different reductions
        self.results += 1;
        if self.results == 4 { self.counter.total(Main::main_chare().callback(Main::counted)); }
    }
}

#[derive(Pup)]
struct Main;
#[talisman::main]
impl Main {
    #[init] fn new(cx: &mut Cx<Self>) -> Self { Tree::chare().on(cx.pes() - 1).new(Counter::group().new()).grow(); Main }
    #[entry] fn counted(&mut self, cx: &mut Cx<Self>, n: u64) { writeln!(cx.output(), "{n} reports"); cx.exit() }
}
