//! What groups have too much or too little, and who gives to whom.

use talisman_pup::Pup;

/// What a group has too much, or too little if it is below zero, as load.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub(crate) struct Offer {
    pub group: u32,
    pub amount: f64,
}

/// One group is to give objects to another.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub(crate) struct Flow {
    pub from: u32,
    pub to: u32,
    pub load: f64,
}

/// The most offers that go up: only one kind is left where many groups meet, and the small ones of very many do not matter.
const OFFERS_MAX: usize = 1024;

/// Lets those with too much give to those with too little, and leaves the offers for which there was nobody.
pub(crate) fn matched(offers: &mut Vec<Offer>) -> Vec<Flow> {
    offers.sort_unstable_by_key(|offer| offer.group);
    let (mut givers, mut takers): (Vec<_>, Vec<_>) = offers.drain(..).partition(|offer| offer.amount > 0.0);
    let (mut giver, mut taker) = (0, 0);
    let mut flows = Vec::new();
    while giver < givers.len() && taker < takers.len() {
        let (from, to) = (&mut givers[giver], &mut takers[taker]);
        let load = from.amount.min(-to.amount);
        if load > 0.0 {
            flows.push(Flow { from: from.group, to: to.group, load });
        }
        from.amount -= load;
        to.amount += load;
        if from.amount <= 0.0 {
            giver += 1;
        } else {
            taker += 1;
        }
    }
    offers.extend(givers.into_iter().chain(takers).filter(|offer| offer.amount != 0.0));
    offers.sort_unstable_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()).then(a.group.cmp(&b.group)));
    offers.truncate(OFFERS_MAX);
    flows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(amounts: &[f64]) -> Vec<Offer> {
        (0..).zip(amounts).map(|(group, amount)| Offer { group, amount: *amount }).collect()
    }

    #[test]
    fn too_much_goes_to_where_too_little_is() {
        let mut left = offers(&[5.0, -2.0, 0.0, 1.0, -1.5, 4.0]);
        let flow = |from, to, load| Flow { from, to, load };
        assert_eq!(matched(&mut left), [flow(0, 1, 2.0), flow(0, 4, 1.5)]);
        let offer = |group, amount| Offer { group, amount };
        assert_eq!(left, [offer(5, 4.0), offer(0, 1.5), offer(3, 1.0)]);
    }

    #[test]
    fn what_nobody_has_is_still_asked_for() {
        let mut left = offers(&[-5.0, 2.0]);
        assert_eq!(matched(&mut left).len(), 1);
        assert_eq!(left, [Offer { group: 0, amount: -3.0 }]);
        assert!(matched(&mut offers(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])).len() < 3);
    }
}
