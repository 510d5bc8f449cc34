//! How programs end: well, with a status, with an error, by a panic.

mod with_an_error {
    use talisman::prelude::*;

    #[talisman::main]
    async fn main(cx: &mut Cx) -> Result<(), String> {
        cx.quiescence().await;
        let bad: Result<u32, String> = Err("the grid is empty".into());
        let n = bad?;
        writeln!(cx.output(), "{n}");
        Ok(())
    }

    #[test]
    fn of_main() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["the grid is empty"]);
    }
}

mod with_a_status {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Member;

    #[chare(group)]
    impl Member {
        #[init]
        fn new() -> Self {
            Member
        }

        #[entry]
        fn end(&mut self, cx: &mut Cx<Self>) {
            cx.exit_with(42);
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Member::group().new().on(cx.pes() - 1).end();
        cx.quiescence().await;
        writeln!(cx.output(), "not reached");
        cx.fail("the job had ended");
    }

    #[test]
    fn of_its_own() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 42, &[]);
    }
}

mod by_fail {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn check(&mut self, cx: &mut Cx<Self>) {
            if cx.index() == 5 {
                cx.fail(format_args!("element {} does not converge", cx.index()));
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Element::array(6).new().check();
        cx.quiescence().await;
    }

    #[test]
    fn of_an_element() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["element 5 does not converge"]);
    }
}

mod by_a_panic {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array2d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn divide(&mut self, cx: &mut Cx<Self>, by: i32) {
            if cx.index() == (1, -1) {
                assert_ne!(by, 0, "cannot divide");
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Element::array((2, -1..1)).new().divide(0);
        cx.quiescence().await;
    }

    #[test]
    fn in_an_entry() {
        let parts = ["Element[(1, -1)]", "`divide`", "cannot divide", "tests/features/ends.rs:"];
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
    }
}

mod by_a_panic_while_waiting {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn one(&mut self) -> u32 {
            1
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let one: u32 = cx.array().at(0).one().await;
            if cx.index() == 2 {
                panic!("got {one}");
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Element::array(3).new().run();
        cx.quiescence().await;
    }

    #[test]
    fn in_an_async_entry() {
        let parts = ["Element[2]", "entry `run`", "got 1", "tests/features/ends.rs:"];
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
    }
}

mod by_a_panic_at_birth {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            if cx.index() == 4 {
                panic!("no memory for it");
            }
            Element
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let _ = Element::array(5).new();
        cx.quiescence().await;
    }

    #[test]
    fn in_an_init() {
        let parts = ["Element[4]", "no memory for it", "tests/features/ends.rs:"];
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
    }
}

mod by_a_panic_of_main {
    use talisman::prelude::*;

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let none: Option<u32> = None;
        writeln!(cx.output(), "{}", none.unwrap());
    }

    #[test]
    fn is_told() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["unwrap()", "tests/features/ends.rs:"]);
    }
}

mod by_a_mistake {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn leave(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to(1000);
        }
    }

    #[derive(Pup)]
    struct Member;

    #[chare(group)]
    impl Member {
        #[init]
        fn new() -> Self {
            Member
        }

        #[entry]
        fn leave(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to(0);
        }
    }

    #[derive(Pup)]
    struct Host;

    #[chare(nodegroup)]
    impl Host {
        #[init]
        fn new() -> Self {
            Host
        }
    }

    #[derive(Pup)]
    struct Flat;

    #[chare(array3d)]
    impl Flat {
        #[init]
        fn new() -> Self {
            Flat
        }
    }

    #[derive(Pup)]
    struct Alone;

    #[chare(single)]
    impl Alone {
        #[init]
        fn new() -> Self {
            Alone
        }

        #[entry]
        fn add(&mut self, cx: &mut Cx<Self>) {
            cx.contribute(1u32, Sum, Callback::ignore());
        }
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        #[arg(skip)]
        which: u32,
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let elements: Array<Element> = Element::array(3).new();
        match options.which {
            0 => elements.leave().ignore(),
            1 => Member::group().new().leave().ignore(),
            2 => drop(Member::group().new().on(1000)),
            3 => drop(Host::group().new().on(1000)),
            4 => drop(elements.insert(7).on(1000).new()),
            5 => drop(Alone::chare().on(1000).new()),
            6 => drop(elements.at(1u64 << 40)),
            7 => drop(elements.insert(u32::MAX).new()),
            8 => Alone::chare().new().add(),
            9 => drop(Element::array(-5).new()),
            10 => drop(Flat::array((1, 1u64 << 40, 1)).new()),
            _ => drop(Element::array(0u64..=u64::MAX).new()),
        }
        cx.quiescence().await;
    }

    /// The line of this file with a text.
    fn line(text: &str) -> usize {
        let lines: Vec<_> = include_str!("ends.rs").lines().collect();
        1 + lines.iter().position(|line| line.contains(text)).expect("it is there")
    }

    #[test]
    fn of_the_program_the_place_is_named() {
        let told = [
            ("cx.migrate_to(1000);", "there is no PE 1000"),
            ("cx.migrate_to(0);", "belongs to its PE"),
            ("2 => drop", "there is no PE 1000"),
            ("3 => drop", "there is no node 1000"),
            ("4 => drop", "there is no PE 1000"),
            ("5 => drop", "there is no PE 1000"),
            ("6 => drop", "index 1099511627776 is out of range"),
            ("7 => drop", "index 4294967295 is out of range"),
            ("cx.contribute(1u32, Sum, Callback::ignore());", "has nobody to reduce with"),
            ("9 => drop", "the size -5 of a dimension is negative"),
            ("10 => drop", "index 1099511627775 is out of range"),
            ("_ => drop(Element", "is out of range"),
        ];
        for (which, (place, what)) in (0..).zip(told) {
            let place = format!("tests/features/ends.rs:{}:", line(place));
            crate::common::fails_everywhere::<__Main, _>(|| (Options { which },), 1, &[&place, what]);
        }
    }
}

mod shared {
    use talisman::prelude::*;

    #[derive(Pup, PartialEq, Debug)]
    struct Config {
        name: String,
        table: Vec<f64>,
    }

    #[derive(Pup)]
    struct Element {
        config: Shared<Config>,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(config: Shared<Config>) -> Self {
            Element { config }
        }

        #[entry]
        fn read(&mut self, cx: &mut Cx<Self>, other: Shared<Config>) -> f64 {
            assert_eq!(self.config.name, "first");
            assert_eq!(other.name, "second");
            cx.migrate_to((cx.pe() + 1) % cx.pes());
            self.config.table[cx.index() as usize] + other.table[0]
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let config = cx.share(Config { name: "first".into(), table: (0..10).map(f64::from).collect() });
        let array: Array<Element> = Element::array(10).new(config);
        for _ in 0..3 {
            let other = cx.share(Config { name: "second".into(), table: vec![0.5] });
            let sum: f64 = array.read(other).reduce(Sum).await;
            assert_eq!(sum, 50.0);
        }
        writeln!(cx.output(), "read everywhere");
    }

    #[test]
    fn values_are_read_everywhere() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["read everywhere"]);
    }
}

mod generic {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Cell<T> {
        value: T,
    }

    #[chare(array1d, instances(Cell<f64>))]
    impl<T: Value + Clone> Cell<T> {
        #[init]
        fn new(value: T) -> Self {
            Cell { value }
        }

        #[entry]
        fn value(&mut self) -> T {
            self.value.clone()
        }
    }

    talisman::register!(Cell<String>);

    #[derive(clap::Parser, Pup)]
    struct Options {
        #[arg(long)]
        known: bool,
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let floats: Vec<f64> = Cell::<f64>::array(2).new(1.5).value().reduce(Concat).await;
        let texts: Vec<String> = Cell::<String>::array(2).new("a".into()).value().reduce(Concat).await;
        writeln!(cx.output(), "{floats:?} {texts:?}");
        if !options.known {
            let _ = Cell::<u8>::array(2).new(1);
        }
    }

    #[test]
    fn chares_have_instances() {
        let lines = [r#"[1.5, 1.5] ["a", "a"]"#];
        crate::common::same_everywhere::<__Main, _>(|| (Options { known: true },), &lines);
    }

    #[test]
    fn an_instance_that_is_not_listed_is_told() {
        crate::common::fails_everywhere::<__Main, _>(
            || (Options { known: false },),
            1,
            &["Cell<u8>", "instances(", "register!"],
        );
    }
}

#[cfg(target_os = "linux")]
mod without_enough_threads {
    use std::process::Command;

    use talisman::prelude::*;
    use talisman::testing::Test;

    const CHILD: &str = "TALISMAN_TEST_FEW_THREADS";

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        cx.exit();
    }

    /// Not a test by itself: run as a child process, whose limits are its own.
    #[test]
    fn child() {
        if std::env::var_os(CHILD).is_some() {
            let tested = Test::new().pes(8).run::<__Main>(());
            println!("status {}: {}", tested.status, tested.message.clone().unwrap_or_default());
        }
    }

    #[test]
    fn it_is_told_and_nobody_waits_for_the_missing() {
        // Stacks of 300 MiB, of which three fit into 1 GiB of addresses.
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 1048576 && exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        limited.args(["features::ends::without_enough_threads::child", "--exact", "--nocapture"]);
        let done = limited.env(CHILD, "").env("RUST_MIN_STACK", "314572800").output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        let told = text.contains("status 1: the system gives no thread for PE ") && text.contains(" of 8: ");
        assert!(told, "{text}{}", String::from_utf8_lossy(&done.stderr));
    }
}
