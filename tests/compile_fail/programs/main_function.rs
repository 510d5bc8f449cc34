//! `#[talisman::main]` where and how it does not work.
mod arguments {
    use talisman::prelude::*;
    #[talisman::main(threads = 4)]
    async fn main(cx: &mut Cx) {}
}
mod on_a_struct {
    #[talisman::main]
    struct Main;
}
mod not_async {
    use talisman::prelude::*;
    #[talisman::main]
    fn main(cx: &mut Cx) {}
}
mod with_self {
    #[talisman::main]
    async fn main(&mut self) {}
}
mod nameless {
    use talisman::prelude::*;
    #[talisman::main]
    async fn main(cx: &mut Cx, (a, b): (u32, u32)) {}
}
mod without_context {
    #[talisman::main]
    async fn main() {}
}
mod two_inits {
    use talisman::prelude::*;
    #[derive(Pup)]
    struct Main;
    #[talisman::main]
    impl Main {
        #[init]
        fn new(_a: u32, _b: u32) -> Self {
            Main
        }
        #[init]
        fn other() -> Self {
            Main
        }
    }
}

fn main() {}
