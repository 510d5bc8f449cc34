//! The queue of one PE: expedited first, then urgent, equals in their order of arrival.

use talisman::prelude::*;

#[derive(Pup)]
struct Worker {
    order: Vec<u32>,
}

#[chare(array1d)]
impl Worker {
    #[init]
    fn new() -> Self {
        Worker { order: vec![] }
    }

    #[entry]
    fn work(&mut self, name: u32) {
        self.order.push(name);
    }

    #[entry(priority = -20)]
    fn urgent(&mut self, name: u32) {
        self.order.push(name);
    }

    #[entry(priority = 20)]
    fn patient(&mut self, name: u32) {
        self.order.push(name);
    }

    #[entry(expedited)]
    fn at_once(&mut self, name: u32) {
        self.order.push(name);
    }

    /// Everything below is in the queue of this PE before the first of it runs.
    #[entry]
    fn send(&mut self, cx: &mut Cx<Self>) {
        let me = cx.me();
        me.patient(100);
        me.work(60);
        me.with_priority(&Priority::int(5)).work(90);
        me.with_priority(&Priority::int(-7)).work(50);
        me.work(61);
        me.urgent(40);
        me.with_priority(&Priority::int(-7)).work(51);
        me.with_priority(&Priority::int(i32::MAX)).work(110);
        me.with_priority(&Priority::int(i32::MIN)).work(30);
        me.at_once(10);
        // Bit vectors are binary fractions; zeros at the end change nothing, and equals keep their order.
        let bits = |text: &str| Priority::bits(text.chars().map(|c| c == '1'));
        me.with_priority(&bits("0001")).work(36);
        me.with_priority(&bits("0000")).work(31);
        me.with_priority(&bits("000")).work(32);
        me.with_priority(&bits("")).work(33);
        me.with_priority(&bits("11111111111111111111111111111111111111")).work(120);
        me.urgent(41);
        me.expedited().work(11);
        me.with_priority(&Priority::int(0)).work(62);
        me.with_priority(&Priority::int(5)).work(91);
        me.patient(101);
        me.work(63);
        me.with_priority(&Priority::int(21)).patient(105);
    }

    #[entry]
    fn order(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.order)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let workers: Array<Worker> = Worker::array(cx.pes() as i32).new();
    for i in 0..cx.pes() {
        workers.at(i as i32).send();
        cx.quiescence().await;
        let order: Vec<u32> = workers.at(i as i32).order().await;
        writeln!(cx.output(), "{}", order.len());
        let mut sorted: Vec<u32> = order.clone();
        sorted.sort();
        assert_eq!(order, sorted);
    }
    cx.exit();
}

#[test]
fn order_the_queue_of_a_pe() {
    for (name, test) in crate::common::manners() {
        let tested = test.run::<__Main>(());
        crate::common::assert_ended_well(&name, &tested);
        assert!(
            !tested.output.is_empty() && tested.output.iter().all(|line| line == "22"),
            "{name}: {:?}",
            tested.output
        );
    }
}
