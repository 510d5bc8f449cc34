//! What is not as it should be, in sentences.

use crate::figures::{Figures, median};
use crate::place::{Between, Places};

/// A PE that is slower than this part of the others is named.
const SLOW: f64 = 0.8;
/// All PEs together are slower than one alone by this part.
const SHARED: f64 = 0.7;
/// A pair of hosts whose stream is less than this part of the others' is named.
const THIN: f64 = 0.5;
/// A pair of hosts whose messages take this many times longer than the others' is named.
const FAR: f64 = 2.0;
/// Messages that take so many times what the machine allows.
const HEAVY: f64 = 6.0;

/// Sentences about what stands out, each on a line of its own; or that nothing does.
pub fn told(places: &Places, figures: &Figures) -> String {
    let mut found = crowded(places);
    found.extend(slow_pes(places, figures));
    found.extend(shared_cores(places, figures, found.is_empty()));
    found.extend(odd_links(places, figures));
    found.extend(heavy_messages(places, figures));
    found.extend(figures.refused().map(|(number, why)| {
        let (first, second) = names(places, number);
        format!(
            "between {first} and {second} nothing but the runtime's own messages could be measured: {why}"
        )
    }));
    if found.is_empty() {
        found.push("nothing stands out".into());
    }
    found.iter().fold("\n".into(), |text, line| text + line + "\n")
}

/// Hosts with more PEs than cores.
fn crowded(places: &Places) -> Vec<String> {
    let crowded = places.hosts().into_iter().filter(|(pes, cores)| pes.len() > *cores as usize);
    let told = |(pes, cores): (Vec<u32>, u32)| {
        let cores_told = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
        format!(
            "the host of {} has {} PEs on {cores_told}: they share them (--pes, --nodes)",
            places.name(pes[0]),
            pes.len()
        )
    };
    crowded.map(told).collect()
}

fn slow_pes(places: &Places, figures: &Figures) -> Vec<String> {
    let speeds = figures.speeds();
    let usual = median(speeds.iter().map(|(_, speed)| *speed));
    // Those that share cores are slow for that reason, which is said.
    let shares =
        |pe: &u32| places.hosts().iter().any(|(pes, cores)| pes.contains(pe) && pes.len() > *cores as usize);
    let slow = speeds.iter().filter(|(pe, speed)| *speed < SLOW * usual && !shares(pe));
    let told = |(pe, speed): &(u32, f64)| {
        format!(
            "{} computes at {:.2} × the speed of most: is something else running there, or its processor slowed down?",
            places.name(*pe),
            speed / usual
        )
    };
    slow.map(told).collect()
}

/// PEs that slow each other down though each has a core.
fn shared_cores(places: &Places, figures: &Figures, has_room: bool) -> Option<String> {
    let usual = median(figures.speeds().iter().map(|(_, speed)| *speed)) / figures.speed_alone();
    let is_shared = has_room && places.pes() > 1 && usual < SHARED;
    is_shared.then(|| {
        format!(
            "while all compute, PEs have {usual:.2} × the speed of one alone: are its cores hardware threads, or do others use them?"
        )
    })
}

/// Pairs of hosts that are not like the others.
fn odd_links(places: &Places, figures: &Figures) -> Vec<String> {
    let hosts: Vec<usize> = (0..places.pairs().len())
        .filter(|number| places.pairs()[*number].between == Between::Hosts)
        .collect();
    let usual_small = median(hosts.iter().map(|number| figures.pair(*number).0.to_and_fro));
    let usual_large = median(hosts.iter().map(|number| figures.pair(*number).0.block));
    let told = |number: &usize| {
        let (ours, _) = figures.pair(*number);
        let (first, second) = names(places, *number);
        let far = (ours.to_and_fro > FAR * usual_small).then(|| {
            format!(
                "between {first} and {second} a message takes {:.1} × what it takes between others",
                ours.to_and_fro / usual_small
            )
        });
        let thin = (usual_large / ours.block < THIN).then(|| {
            format!(
                "between {first} and {second} a stream has {:.2} × the bytes of others: is a link slow?",
                usual_large / ours.block
            )
        });
        far.into_iter().chain(thin)
    };
    hosts.iter().flat_map(told).collect()
}

/// Kinds of pairs whose messages are far from the limit.
fn heavy_messages(places: &Places, figures: &Figures) -> Vec<String> {
    let told = |(number, two): (usize, &crate::place::Two)| {
        let (ours, limit) = figures.pair(number);
        let ratio = ours.to_and_fro / limit.to_and_fro;
        let (first, second) = names(places, number);
        let why = match two.between {
            Between::Nodes => "is this through shared memory (--transport)?",
            Between::Pes | Between::Hosts => "do PEs have their cores for themselves?",
        };
        (ratio > HEAVY).then(|| {
            format!(
                "between {first} and {second} a message takes {ratio:.1} × what the machine allows: {why}"
            )
        })
    };
    places.pairs().iter().enumerate().filter_map(told).collect()
}

fn names(places: &Places, number: usize) -> (String, String) {
    let (first, second) = places.pairs()[number].pes();
    (places.name(first), places.name(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Ours;
    use crate::place::Place;

    /// Three hosts with a PE each.
    fn three() -> Places {
        Places::new((0..3).map(|pe| Place::made_up(pe, pe, &format!("host{pe}"), 1)).collect())
    }

    fn even(places: &Places) -> Figures {
        let mut figures = Figures::default();
        let all = |value| (0..places.pes() as u32).map(|pe| (pe, value)).collect();
        figures.of_processors(250.0, all(240.0), Vec::new());
        figures
    }

    fn ours(to_and_fro: f64, block: f64) -> Ours {
        Ours { to_and_fro, block }
    }

    #[test]
    fn nothing_is_said_where_all_is_well() {
        let places = three();
        let mut figures = even(&places);
        (0..3).for_each(|pair| figures.of_pair(pair, ours(20_000.0, 1e6), ours(15_000.0, 9e5)));
        assert_eq!(told(&places, &figures), "\nnothing stands out\n");
    }

    #[test]
    fn what_is_slow_is_named() {
        let places = three();
        let mut figures = Figures::default();
        figures.of_processors(250.0, vec![(0, 240.0), (1, 120.0), (2, 240.0)], vec![]);
        figures.of_pair(0, ours(20_000.0, 1e6), ours(15_000.0, 9e5));
        figures.of_pair(1, ours(20_000.0, 9e6), Ours::UNKNOWN);
        figures.of_pair(2, ours(90_000.0, 1e6), ours(10_000.0, 9e5));
        figures.of_refused(1, "timed out".into());
        let said = told(&places, &figures);
        for part in [
            "PE 1 (node 1, host host1) computes at 0.50 ×",
            "between PE 1 (node 1, host host1) and PE 2 (node 2, host host2) a stream has 0.11 ×",
            "between PE 2 (node 2, host host2) and PE 0 (node 0, host host0) a message takes 4.5 × what it takes between others",
            "a message takes 9.0 × what the machine allows",
            "could be measured: timed out",
        ] {
            assert!(said.contains(part), "`{part}` is not in {said}");
        }
        assert_eq!(said.lines().filter(|line| !line.is_empty()).count(), 5, "{said}");
    }

    #[test]
    fn hosts_with_more_pes_than_cores_are_named() {
        let places = Places::new((0..3).map(|pe| Place::made_up(pe, 0, "a", 2)).collect());
        let mut figures = even(&places);
        // They are slower together, which is no wonder then.
        let speeds = [100.0, 200.0, 200.0];
        figures.of_processors(250.0, (0..3).zip(speeds).collect(), vec![]);
        let said = told(&places, &figures);
        assert_eq!(
            said,
            "\nthe host of PE 0 (node 0, host a) has 3 PEs on 2 cores: they share them (--pes, --nodes)\n"
        );
    }
}
