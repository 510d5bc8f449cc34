//! Callbacks and reductions whose types do not fit.
use talisman::prelude::*;

#[derive(Pup)]
struct Block {
    driver: Proxy<Driver>,
}

#[chare(array1d)]
impl Block {
    #[init]
    fn new(driver: Proxy<Driver>) -> Self {
        Block { driver }
    }
    #[entry]
    fn start(&mut self, cx: &mut Cx<Self>) {
        let n: u32 = 4;
        cx.contribute(n, Sum, self.driver.callback(Driver::residual));
        cx.contribute(1.0, Max, self.driver.callback(Block::poke));
        cx.contribute(1.0, Max, cx.callback(Self::helper));
        cx.contribute(String::new(), Sum, Callback::ignore());
        cx.contribute(self.driver, Merged, Callback::ignore());
        cx.contribute(1.0, Sum);
        cx.when_idle(cx.callback(Self::add));
    }
    #[entry]
    fn add(&mut self, _x: f64) {}
    #[entry]
    fn poke(&mut self) {}
    fn helper(&mut self, _cx: &mut Cx<Self>, _value: f64) {}
}

#[derive(Pup)]
struct Driver;

#[talisman::main]
impl Driver {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        Block::array(2).new(cx.me()).start();
        Driver
    }
    #[entry]
    fn residual(&mut self, _value: f64) {}
}
