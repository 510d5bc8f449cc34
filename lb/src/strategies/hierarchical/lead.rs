//! A leader's part in a step, beside that of its own PE.

use std::collections::BTreeMap;

use super::Hierarchical;
use super::bundles::Bundle;
use super::group::{Group, Placed, Report, Which};
use super::member::{Note, Orders, send};
use super::offers::{Flow, Offer, matched};
use crate::distributed::census::Odd;
use crate::member::{Action, tree};

/// The state machine of a leader. Leaders make a tree of their own, by numbers of groups.
pub(crate) struct Lead {
    strategy: Hierarchical,
    number: u32,
    groups: u32,
    /// Known when the census is over.
    level: Option<f64>,
    /// By PE of the group.
    reports: Vec<Option<Report>>,
    /// Leaders right below, and what they offer.
    below: Vec<(u32, Option<Vec<Offer>>)>,
    /// Made of the reports.
    group: Option<Group>,
    /// Flows that were found here, for those below.
    flows: Vec<Flow>,
    /// Whether it knows all flows of its group.
    told: bool,
    /// What its group gives, until it is known where that went.
    outward: Vec<Outward>,
    gone: Vec<Which>,
    /// Groups that are to give something.
    givers: Vec<u32>,
    /// By giver, what it gave: in the order of groups, so that it does not matter who is fast.
    brought: BTreeMap<u32, Vec<Bundle>>,
    /// Where bundles of its group go.
    moves: Vec<(Which, u32)>,
    /// PEs of the group that get something of others, and its load.
    arrivals: Vec<(u32, f64)>,
    solved: bool,
    over: bool,
}

/// What goes to another group.
struct Outward {
    to: u32,
    bundles: Vec<Which>,
}

impl Lead {
    pub fn new(strategy: Hierarchical, number: u32, pes: u32) -> Self {
        let groups = pes.div_ceil(strategy.group);
        let first = number * strategy.group;
        let count = strategy.group.min(pes - first);
        Lead {
            strategy,
            number,
            groups,
            level: None,
            reports: vec![None; count as usize],
            below: tree::children(number, groups).map(|child| (child, None)).collect(),
            group: None,
            flows: Vec::new(),
            told: false,
            outward: Vec::new(),
            gone: Vec::new(),
            givers: Vec::new(),
            brought: BTreeMap::new(),
            moves: Vec::new(),
            arrivals: Vec::new(),
            solved: false,
            over: false,
        }
    }

    /// Objects and bundles that it has descriptions of.
    pub fn held(&self) -> usize {
        let count = |report: &Report| report.bundles.len();
        let reported: usize = self.reports.iter().flatten().map(count).sum();
        let grouped: usize = self.group.iter().flat_map(|group| &group.reports).map(count).sum();
        reported + grouped + self.brought.values().map(Vec::len).sum::<usize>()
    }

    /// The census is over, and there is something to do.
    pub fn begin(&mut self, level: f64, actions: &mut Vec<Action>) -> Result<(), String> {
        self.level = Some(level);
        self.go_on(actions)
    }

    /// What a PE of the group has.
    pub fn report(&mut self, from: u32, report: Report, actions: &mut Vec<Action>) -> Result<(), String> {
        let place = from.checked_sub(self.first()).filter(|_| self.group.is_none());
        match place.and_then(|place| self.reports.get_mut(place as usize)) {
            Some(told @ None) if report.is_sound() => *told = Some(report),
            _ => return Err("that report is not due, or makes no sense".to_owned()),
        }
        self.go_on(actions)
    }

    /// What groups below offer.
    pub fn offers(&mut self, from: u32, offers: Vec<Offer>, actions: &mut Vec<Action>) -> Result<(), String> {
        let number = self.number_of(from)?;
        let sound = |offer: &Offer| offer.amount.is_finite() && offer.group < self.groups;
        if !offers.iter().all(sound) || self.group.is_some() {
            return Err("those offers are not due, or make no sense".to_owned());
        }
        match self.below.iter_mut().find(|(child, _)| *child == number) {
            Some((_, told @ None)) => *told = Some(offers),
            _ => return Err("those offers are not due".to_owned()),
        }
        self.go_on(actions)
    }

    /// What those above found for this group and those below.
    pub fn flows(&mut self, from: u32, flows: Vec<Flow>, actions: &mut Vec<Action>) -> Result<(), String> {
        let above = tree::parent(self.number) == Some(self.number_of(from)?);
        if !above || self.group.is_none() || self.told {
            return Err("those flows are not due".to_owned());
        }
        if !flows.iter().all(|flow| flow.from < self.groups && flow.to < self.groups) {
            return Err("those flows are between no groups".to_owned());
        }
        self.flows.extend(flows);
        self.tell(actions);
        self.go_on(actions)
    }

    /// What another group gives.
    pub fn bring(
        &mut self,
        from: u32,
        bundles: Vec<Bundle>,
        actions: &mut Vec<Action>,
    ) -> Result<(), String> {
        let giver = self.number_of(from)?;
        let known = self.brought.contains_key(&giver) || self.told && !self.givers.contains(&giver);
        if known || self.solved || !bundles.iter().all(Bundle::is_sound) {
            return Err("nothing was to be brought, or not that".to_owned());
        }
        self.brought.insert(giver, bundles);
        self.go_on(actions)
    }

    /// Where another group placed what it was given.
    pub fn placed(
        &mut self,
        from: u32,
        places: Vec<Option<u32>>,
        actions: &mut Vec<Action>,
    ) -> Result<(), String> {
        let number = self.number_of(from)?;
        let first = number * self.strategy.group;
        let of_group = |pe: &Option<u32>| pe.is_none_or(|pe| pe >= first && pe - first < self.strategy.group);
        let outward = self.outward.iter().position(|outward| outward.to == number);
        let outward = outward.filter(|at| self.outward[*at].bundles.len() == places.len());
        let Some(outward) = outward.filter(|_| places.iter().all(of_group)) else {
            return Err("nothing was to be placed, or not so".to_owned());
        };
        let bundles = self.outward.swap_remove(outward).bundles;
        self.moves.extend(bundles.into_iter().zip(places).filter_map(|(which, to)| Some((which, to?))));
        self.go_on(actions)
    }

    fn first(&self) -> u32 {
        self.number * self.strategy.group
    }

    /// The group that a PE leads.
    fn number_of(&self, pe: u32) -> Result<u32, Odd> {
        let number = pe / self.strategy.group;
        let leads = pe % self.strategy.group == 0 && number < self.groups;
        if leads { Ok(number) } else { Err("that PE leads no group") }
    }

    fn leader(&self, number: u32) -> u32 {
        number * self.strategy.group
    }

    /// Does whatever is possible by now.
    fn go_on(&mut self, actions: &mut Vec<Action>) -> Result<(), String> {
        if let Some(level) = self.level.filter(|_| self.group.is_none() && self.is_complete()) {
            self.meet(level, actions);
        }
        let mut result = Ok(());
        if self.told && !self.solved && self.givers.iter().all(|giver| self.brought.contains_key(giver)) {
            result = self.solve(actions);
        }
        if self.solved && self.outward.is_empty() && !self.over {
            self.order(actions);
        }
        result
    }

    fn is_complete(&self) -> bool {
        self.reports.iter().all(Option::is_some) && self.below.iter().all(|(_, offers)| offers.is_some())
    }

    /// All below have told: matches their offers, and passes on what is left.
    fn meet(&mut self, level: f64, actions: &mut Vec<Action>) {
        let reports = std::mem::take(&mut self.reports).into_iter().flatten().collect();
        let group = self.group.insert(Group { first: self.number * self.strategy.group, reports });
        let mut offers = vec![Offer { group: self.number, amount: group.excess(level) }];
        offers.extend(self.below.iter_mut().filter_map(|(_, offers)| offers.take()).flatten());
        self.flows = matched(&mut offers);
        match tree::parent(self.number) {
            Some(above) => send(self.leader(above), &Note::Offers(offers), actions),
            None => self.tell(actions),
        }
    }

    /// All flows are known here: passes on those that concern groups below, and begins with its own.
    fn tell(&mut self, actions: &mut Vec<Action>) {
        self.told = true;
        let flows = std::mem::take(&mut self.flows);
        let concerns = |child: u32, group: u32| group == child || tree::toward(child, group).is_some();
        for child in tree::children(self.number, self.groups) {
            let theirs = flows.iter().filter(|flow| concerns(child, flow.from) || concerns(child, flow.to));
            send(self.leader(child), &Note::Flows(theirs.copied().collect()), actions);
        }
        self.givers = flows.iter().filter(|flow| flow.to == self.number).map(|flow| flow.from).collect();
        self.brought.retain(|giver, _| self.givers.contains(giver));
        self.give(flows.into_iter().filter(|flow| flow.from == self.number).collect(), actions);
    }

    fn give(&mut self, flows: Vec<Flow>, actions: &mut Vec<Action>) {
        let (Some(group), Some(level)) = (&self.group, self.level) else { return };
        let chosen = group.chosen(&flows, level);
        for (flow, bundles) in flows.iter().zip(chosen) {
            let described = |(pe, bundle): &Which| group.reports[*pe as usize].bundles[*bundle as usize];
            let note = Note::Bring(bundles.iter().map(described).collect());
            send(self.leader(flow.to), &note, actions);
            self.gone.extend(&bundles);
            self.outward.push(Outward { to: flow.to, bundles });
        }
    }

    /// Places the group's bundles and what was brought.
    fn solve(&mut self, actions: &mut Vec<Action>) -> Result<(), String> {
        let Some(group) = &self.group else { return Ok(()) };
        self.solved = true;
        let brought: Vec<Bundle> = self.brought.values().flatten().copied().collect();
        let mut strategy = (self.strategy.within)();
        let placed = group.placed(&mut *strategy, &self.gone, &brought);
        let result =
            placed.as_ref().map(|_| ()).map_err(|why| format!("strategy {}: {why}", strategy.name()));
        let Placed { moves, mut guests } = placed.unwrap_or_default();
        guests.resize(brought.len(), None);
        self.moves.extend(moves);
        let mut guests = guests.into_iter();
        for (giver, bundles) in std::mem::take(&mut self.brought) {
            let places: Vec<_> = guests.by_ref().take(bundles.len()).collect();
            self.arrivals
                .extend(bundles.iter().zip(&places).filter_map(|(bundle, to)| Some(((*to)?, bundle.load))));
            send(self.leader(giver), &Note::Placed(places), actions);
        }
        result
    }

    /// Tells the PEs of the group what moves.
    fn order(&mut self, actions: &mut Vec<Action>) {
        self.over = true;
        let first = self.first();
        let Some(group) = self.group.take() else { return };
        let mut loads: Vec<f64> = group.reports.iter().map(Report::load).collect();
        let mut moves = vec![Vec::new(); loads.len()];
        let mut comes = |to: u32, load: f64| {
            if let Some(sum) = to.checked_sub(first).and_then(|to| loads.get_mut(to as usize)) {
                *sum += load;
            }
        };
        self.arrivals.drain(..).for_each(|(to, load)| comes(to, load));
        for ((pe, bundle), to) in std::mem::take(&mut self.moves) {
            let load = group.reports[pe as usize].bundles[bundle as usize].load;
            comes(to, load);
            comes(first + pe, -load);
            moves[pe as usize].push((bundle, to));
        }
        let predicted = group.reports.iter().zip(loads).map(|(report, load)| report.place.seconds(load));
        let orders = predicted.zip(moves).map(|(predicted, moves)| Orders { predicted, moves });
        for (pe, orders) in (first..).zip(orders) {
            send(pe, &Note::Orders(orders), actions);
        }
    }
}
