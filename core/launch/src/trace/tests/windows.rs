//! Traces of parts of a job.

use talisman_job::options::{TraceEvery, TraceWindow};

use super::*;

#[test]
fn what_is_outside_of_the_window_is_left_out() {
    let folder = Folder::new("window");
    job(&folder.0);
    let window = TraceWindow { from: Duration::from_nanos(4_500), until: Duration::from_nanos(13_000) };
    let traced = Traced { window: Some(window), every: None };
    let (file, _) = merged(&folder, &Extras { traced, failures: &[] });
    let told = events(&file);
    let of_pe = |pe| told.iter().filter(|event| event.0 == Track::Pe(pe)).count();
    assert_eq!((of_pe(0), of_pe(1)), (3, 1), "ends of what began before are not told: {told:?}");
}

#[test]
fn of_each_period_a_part_is_there_and_no_call_reaches_from_one_into_the_next() {
    let folder = Folder::new("every");
    let [open, _] = entry(1_500_000, 0, 0, 7);
    let mut of_0 = vec![open];
    // Between the parts.
    of_0.extend(entry(1_700_000, 1_800_000, 0, 7));
    of_0.extend(entry(2_100_000, 2_200_000, 0, 7));
    write(&folder.0, &origin(0, 0), &[strip(0, 0, 5_000_000, of_0)]);
    let every = TraceEvery { part: Duration::from_micros(1_600), period: Duration::from_millis(2) };
    let traced = Traced { window: None, every: Some(every) };
    let (file, _) = merged(&folder, &Extras { traced, failures: &[] });
    let told = events(&file);
    let of_pe = told.iter().filter(|event| event.0 == Track::Pe(0)).map(|event| (event.1, event.3));
    let (begins, ends) = (What::Begins, What::Ends);
    assert_eq!(
        of_pe.collect::<Vec<_>>(),
        [(begins, 1_500_000), (ends, 1_500_000), (begins, 2_100_000), (ends, 2_200_000)]
    );
}
