//! Callbacks of every kind.

use talisman::function::Function;
use talisman::prelude::*;

#[derive(Pup)]
struct Element {
    heard: u64,
}

#[chare(array1d)]
impl Element {
    #[init]
    fn new() -> Self {
        Element { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, n: u64) {
        self.heard += n;
    }

    #[entry]
    fn heard(&mut self) -> u64 {
        self.heard
    }

    #[entry]
    fn contribute(&mut self, cx: &mut Cx<Self>, to: Callback<u64>) {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        cx.contribute(1u64, Sum, to);
    }

    #[entry]
    fn value(&mut self, cx: &mut Cx<Self>) -> u64 {
        cx.index() as u64
    }
}

struct Forward;

impl Function for Forward {
    const NAME: &'static str = "callbacks::Forward";
    type Value = u64;

    fn call(value: u64) {
        Main::main_chare().function_called(value);
    }
}

talisman::register_function!(Forward);

#[derive(Pup)]
struct Main {
    array: Array<Element>,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        cx.me().run();
        Main { array: Element::array(6).new() }
    }

    #[entry]
    fn function_called(n: u64);

    #[entry]
    fn named(name: String, factor: f32, n: u64);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let array: Array<Element> = self.array;
        // An entry of one element; every element; a section; nobody.
        array.contribute(array.at(2).callback(Element::hear));
        cx.quiescence().await;
        array.contribute(array.callback(Element::hear));
        cx.quiescence().await;
        array.contribute(array.section([1, 3]).callback(Element::hear));
        cx.quiescence().await;
        array.contribute(Callback::ignore());
        cx.quiescence().await;
        let heard: Vec<u64> = array.heard().reduce(Concat).await;
        writeln!(cx.output(), "{heard:?}");
        // A function on a PE.
        array.contribute(Callback::function::<Forward>(cx.pes() - 1));
        let n = cx.when(Self::function_called).await;
        writeln!(cx.output(), "called with {n}");
        // The first arguments filled in; of a call's answer; sent by hand.
        let to: Callback<u64> = cx.callback(Self::named).with("six".into()).with(0.5);
        assert_eq!(to.clone(), to);
        array.contribute(to.clone());
        let got = cx.when(Self::named).await;
        writeln!(cx.output(), "{got:?}");
        array.at(5).value().reply(to.clone());
        let got = cx.when(Self::named).await;
        writeln!(cx.output(), "{got:?}");
        to.send(7);
        let got = cx.when(Self::named).await;
        writeln!(cx.output(), "{got:?}");
        // Everything filled in: one argument, several, and the rest of several.
        cx.on_quiescence(cx.callback(Self::function_called).with_value(8));
        let n = cx.when(Self::function_called).await;
        writeln!(cx.output(), "called with {n}");
        cx.on_quiescence(cx.callback(Self::named).with_value(("nine".into(), 0.25, 9)));
        let got = cx.when(Self::named).await;
        writeln!(cx.output(), "{got:?}");
        cx.on_quiescence(cx.callback(Self::named).with("ten".into()).with(0.5).with_value(10));
        let got = cx.when(Self::named).await;
        writeln!(cx.output(), "{got:?}");
        cx.on_quiescence(Callback::exit());
    }
}

#[test]
fn go_where_they_should() {
    let lines = [
        "[6, 12, 12, 12, 6, 6]",
        "called with 6",
        r#"("six", 0.5, 6)"#,
        r#"("six", 0.5, 5)"#,
        r#"("six", 0.5, 7)"#,
        "called with 8",
        r#"("nine", 0.25, 9)"#,
        r#"("ten", 0.5, 10)"#,
    ];
    crate::common::same_everywhere::<Main, _>(|| (), &lines);
}
