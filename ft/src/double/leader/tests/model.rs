//! Nodes that do as they are told, and what must hold whatever happens to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::*;

/// A job: its leader, its nodes, and what is on its way between them.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) leader: Leader,
    hosts: Vec<u32>,
    nodes: Vec<Option<Node>>,
    /// What was ordered, by epoch.
    orders: BTreeMap<Epoch, Ordered>,
    /// The next checkpoint.
    next: Version,
    /// The newest version that lines were printed of.
    printed: Option<Version>,
    pub(super) gave_up: bool,
}

/// A node that is there.
#[derive(Clone, Debug, Default)]
struct Node {
    epoch: Epoch,
    halted: bool,
    /// It was there when orders were given last.
    is_old: bool,
    held: Vec<Held>,
    /// What it would hold had it dropped nothing but what is older than a version that it knows to be committed.
    had: Vec<Held>,
    inbox: VecDeque<Action>,
    outbox: VecDeque<Word>,
}

#[derive(Clone, Copy, Debug)]
enum Word {
    Halted(Epoch),
    Resumed(Epoch),
}

/// The orders of an epoch: what they have in common, and what each survivor restores.
#[derive(Clone, Debug)]
struct Ordered {
    view: View,
    version: Option<Version>,
    restored: BTreeMap<NodeId, Vec<NodeId>>,
    /// Who fetches which part from whom, as those who fetch and those who send were told.
    fetched: BTreeSet<(NodeId, NodeId, NodeId)>,
    sent: BTreeSet<(NodeId, NodeId, NodeId)>,
}

impl Model {
    /// Nodes on these hosts, that hold this.
    pub(super) fn new(hosts: &[u32], held: impl Fn(NodeId) -> Vec<Held>) -> Self {
        let node = |node| Some(Node { is_old: true, held: held(node), had: held(node), ..Node::default() });
        Model {
            leader: Leader::new(hosts.to_vec()),
            hosts: hosts.to_vec(),
            nodes: (0..hosts.len() as u32).map(node).collect(),
            orders: BTreeMap::new(),
            next: FIRST_VERSION,
            printed: None,
            gave_up: false,
        }
    }

    pub(super) fn living(&self) -> Vec<NodeId> {
        (0..).zip(&self.nodes).filter(|(_, node)| node.is_some()).map(|(node, _)| node).collect()
    }

    /// These nodes are gone at once, with what they had to say.
    pub(super) fn die(&mut self, nodes: &[NodeId]) {
        nodes.iter().for_each(|node| self.nodes[*node as usize] = None);
        let actions = self.leader.on_lost(nodes.iter().copied());
        self.carry_out(actions);
    }

    /// A lost node is to be replaced; whether that is waited for.
    pub(super) fn expect(&mut self, node: NodeId) -> bool {
        self.nodes.get(node as usize).is_some_and(Option::is_none) && self.leader.expect(node)
    }

    /// These nodes are to go.
    pub(super) fn release(&mut self, nodes: &[NodeId]) {
        let actions = self.leader.on_release(nodes);
        self.carry_out(actions);
    }

    /// Those of these nodes that are lost have processes again, if nobody halts.
    pub(super) fn add(&mut self, nodes: &[NodeId]) {
        let is_gone = |node: &NodeId| self.nodes.get(*node as usize).is_some_and(Option::is_none);
        let added: Vec<NodeId> = nodes.iter().copied().filter(is_gone).collect();
        if !self.leader.is_running() {
            return;
        }
        added.iter().for_each(|node| self.nodes[*node as usize] = Some(Node::default()));
        let actions = self.leader.on_added(&added);
        self.carry_out(actions);
    }

    /// The replacement of a node comes, or it turns out that it will not; nothing happens unless it is expected.
    pub(super) fn replace(&mut self, number: NodeId, comes: bool) {
        let is_gone = self.nodes.get(number as usize).is_some_and(Option::is_none);
        let is_expected = is_gone && self.leader.expected.contains(&number);
        let actions = match (is_expected, comes) {
            (false, _) => return,
            (true, true) => {
                self.nodes[number as usize] = Some(Node::default());
                self.leader.on_come(number)
            }
            (true, false) => self.leader.on_not_coming(number),
        };
        self.carry_out(actions);
    }

    /// Whoever is waited for comes.
    pub(super) fn replace_all(&mut self) {
        (0..self.nodes.len() as u32).for_each(|node| self.replace(node, true));
    }

    /// A node reads the next thing that it was told; whether there was any.
    pub(super) fn read(&mut self, number: NodeId) -> bool {
        let Some(node) = &mut self.nodes[number as usize] else { return false };
        match node.inbox.pop_front() {
            Some(Action::Halt { epoch, .. }) if epoch > node.epoch => {
                (node.epoch, node.halted) = (epoch, true);
                node.outbox.push_back(Word::Halted(epoch));
            }
            Some(Action::Resume { order, .. }) if node.halted && order.view.epoch == node.epoch => {
                node.halted = false;
                node.go_back(&order);
                node.outbox.push_back(Word::Resumed(node.epoch));
            }
            Some(_) => {}
            None => return false,
        }
        true
    }

    /// The leader hears the next thing that a node has said; whether there was any.
    pub(super) fn hear(&mut self, number: NodeId) -> bool {
        let Some(node) = &mut self.nodes[number as usize] else { return false };
        let actions = match node.outbox.pop_front() {
            Some(Word::Halted(epoch)) => self.leader.on_halted(number, epoch, node.held.clone()),
            Some(Word::Resumed(epoch)) => self.leader.on_resumed(number, epoch),
            None => return false,
        };
        self.carry_out(actions);
        true
    }

    /// Nothing is on its way any more: everybody goes on, or it is over.
    pub(super) fn check_rest(&self) {
        let goes_on = |node: &Node| !node.halted && node.epoch == self.leader.epoch();
        let all_go_on = self.leader.is_running() && self.nodes.iter().flatten().all(goes_on);
        assert!(self.gave_up || all_go_on, "{self:?}");
    }

    /// All that are there take a checkpoint, if they go on: each its own part and that of whom it is the buddy of, unless
    /// that is `missing`. If nothing is, those of `told` hear that it is committed, print, and drop what is older.
    pub(super) fn checkpoint(&mut self, told: &[NodeId], missing: &[NodeId]) {
        if !self.leader.is_running() {
            return;
        }
        let (view, version) = (self.leader.view.clone(), self.next);
        self.next += 1;
        for number in self.living() {
            let committed = missing.is_empty() && told.contains(&number);
            let held = self.parts_of(number, missing);
            let held = Held { version, view: view.clone(), held, committed, missed: Vec::new() };
            let node = self.nodes[number as usize].as_mut().expect("it is living");
            if committed {
                node.held.clear();
                node.had.clear();
                self.printed = Some(version);
                self.leader.on_committed(version);
            }
            node.had.push(held.clone());
            node.held.push(held);
        }
    }

    /// What a node has of a checkpoint of now.
    fn parts_of(&self, number: NodeId, missing: &[NodeId]) -> Vec<NodeId> {
        let view = &self.leader.view;
        let buddy = |part| view.buddy(part, |node| self.hosts[node as usize]);
        let is_copied = |part: NodeId| buddy(part) == Some(number) && !missing.contains(&part);
        view.there().filter(|part| *part == number || is_copied(*part)).collect()
    }

    fn carry_out(&mut self, actions: Vec<Action>) {
        for action in &actions {
            if let Action::Release(nodes) = action {
                nodes.iter().for_each(|node| self.nodes[*node as usize] = None);
            }
        }
        for action in actions {
            match action {
                Action::Halt { to, epoch, .. } if epoch == self.leader.epoch() && self.has_come(to) => {
                    self.tell(to, action);
                }
                Action::Halt { to, epoch, .. } => {
                    assert!(!self.orders.contains_key(&epoch), "an epoch begins once: {self:?}");
                    self.tell(to, action);
                }
                Action::Resume { to, ref order } => {
                    self.take_order(to, order);
                    self.nodes[to as usize].iter_mut().for_each(|node| node.is_old = true);
                    self.tell(to, action);
                }
                Action::Recovered { epoch, version } => {
                    assert_eq!(self.orders[&epoch].version, version);
                    self.check_orders(&self.orders[&epoch]);
                }
                Action::Release(nodes) => {
                    assert!(
                        !self.orders[&self.leader.epoch()].restored.keys().any(|node| nodes.contains(node))
                    );
                }
                Action::GiveUp(_) => {
                    assert_eq!(self.restorable(|node| &node.held), None, "{self:?}");
                    assert_eq!(self.restorable(|node| &node.had), None, "too much was dropped: {self:?}");
                    self.gave_up = true;
                }
            }
        }
    }

    /// Whether a node has come in this epoch, and not been told anything.
    fn has_come(&self, node: NodeId) -> bool {
        self.nodes[node as usize].as_ref().is_some_and(|node| node.epoch == 0 && node.inbox.is_empty())
            && self.leader.epoch() > 0
    }

    fn tell(&mut self, to: NodeId, action: Action) {
        self.nodes[to as usize].as_mut().expect("nothing is said to the dead").inbox.push_back(action);
    }

    fn take_order(&mut self, to: NodeId, order: &Order) {
        let Order { view, version, restore, fetch, send, next_version, committed, .. } = order.clone();
        assert!(committed <= version, "nobody goes back behind what was committed: {self:?}");
        assert_eq!(view.epoch, self.leader.epoch());
        assert_eq!(view.there().collect::<Vec<_>>(), self.living());
        let has_halted = |node: &Node| node.halted && node.epoch == view.epoch;
        assert!(self.nodes.iter().flatten().all(has_halted), "nobody runs any more: {self:?}");
        let mut held = self.nodes.iter().flatten().flat_map(|node| &node.held);
        assert!(held.all(|held| held.version < next_version) && self.printed < Some(next_version));
        self.next = next_version;
        let of_epoch = self.orders.entry(view.epoch);
        let known = of_epoch.or_insert_with(|| Ordered::new(view.clone(), version));
        assert_eq!((&known.view, known.version), (&view, version), "an epoch has one order");
        assert!(known.restored.insert(to, restore).is_none(), "an order is given once");
        known.fetched.extend(fetch.into_iter().map(|(part, from)| (part, from, to)));
        known.sent.extend(send.into_iter().map(|(part, receiver)| (part, to, receiver)));
    }

    /// All orders of an epoch together restore every part of the newest whole version once, each where it is held; and whoever was not
    /// there then has one made of that of its acting node.
    fn check_orders(&self, ordered: &Ordered) {
        let expected = self.restorable(|node| &node.held).expect("there is something to go back to");
        let (version, taken_in) =
            expected.map_or((None, None), |(version, view)| (Some(version), Some(view)));
        assert_eq!(ordered.version, version, "{self:?}");
        let mut all: Vec<_> = ordered.restored.values().flatten().copied().collect();
        all.sort_unstable();
        let has_part = |node: &NodeId| {
            taken_in.as_ref().is_some_and(|view| view.is_there(*node) || ordered.view.is_there(*node))
        };
        let parts: Vec<_> = (0..self.nodes.len() as u32).filter(has_part).collect();
        assert_eq!(all, parts, "every part once: {self:?}");
        assert_eq!(ordered.fetched, ordered.sent, "what is fetched is sent: {self:?}");
        for (node, part) in
            ordered.restored.iter().flat_map(|(node, parts)| parts.iter().map(move |part| (*node, *part)))
        {
            let fetched = ordered.fetched.iter().find(|(of, _, by)| (*of, *by) == (part, node));
            let holder = fetched.map_or(node, |(_, from, _)| *from);
            let of = taken_in.as_ref().map_or(part, |view| view.acting_for(part));
            assert!(
                version.is_some_and(|version| self.holds(holder, |node| &node.held, version, of)),
                "{holder} holds {part}: {self:?}"
            );
            assert_eq!(ordered.view.acting_for(part), node, "whoever restores a part acts for its node");
        }
    }

    fn holds(&self, node: NodeId, held: fn(&Node) -> &Vec<Held>, version: Version, part: NodeId) -> bool {
        let mut held = self.nodes[node as usize].iter().flat_map(held);
        held.any(|held| held.version == version && held.held.contains(&part))
    }

    /// What can be gone back to if this is held, looked for without any cleverness: the newest whole version and who was there; nothing, if the
    /// program begins anew; none if the job has to end.
    fn restorable(&self, of: fn(&Node) -> &Vec<Held>) -> Option<Option<(Version, View)>> {
        let living = self.living();
        let all: Vec<&Held> = self.nodes.iter().flatten().flat_map(of).collect();
        let told = all.iter().filter(|held| held.committed).map(|held| held.version).max();
        let committed = told.max(self.leader.committed).max(self.printed);
        let is_whole = |held: &Held| {
            let is_held = |part| living.iter().any(|node| self.holds(*node, of, held.version, part));
            held.view.there().all(is_held)
        };
        let newest = all.iter().filter(|held| is_whole(held)).max_by_key(|held| held.version);
        match newest.filter(|held| Some(held.version) >= committed) {
            Some(held) => Some(Some((held.version, held.view.clone()))),
            // Whoever has come since knows nothing.
            None if committed.is_none() && self.nodes.iter().flatten().any(|node| node.is_old) => Some(None),
            None => None,
        }
    }
}

impl Node {
    fn go_back(&mut self, order: &Order) {
        self.held.retain(|held| order.keeps(held.version));
        for held in self.held.iter_mut().chain(&mut self.had) {
            held.committed = Some(held.version) <= order.committed;
        }
        // What was not whole then never will be.
        self.had.retain(|held| Some(held.version) <= order.version);
    }
}

impl Ordered {
    fn new(view: View, version: Option<Version>) -> Self {
        let (fetched, sent) = (BTreeSet::new(), BTreeSet::new());
        Ordered { view, version, restored: BTreeMap::new(), fetched, sent }
    }
}
