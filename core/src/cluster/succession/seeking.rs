//! An agent without a launcher looks for the one that has taken its place, which may be one that it starts itself.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

use super::super::frame::{Decoder, encode};
use super::super::heartbeat::TICK;
use super::super::remote::message::{FromAgent, ToAgent};
use super::super::takeover::search::{Patience, Search};
use super::door::{Pass, Reached, reach};
use super::estate::Orphan;
use talisman_transport::tcp::Talk;

/// It may take a moment until somebody listens, or is refused.
const PAUSE: Duration = Duration::from_millis(20);
/// A process that was started here has answered within this.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// What has become of a search.
pub(crate) enum Found {
    /// Whoever leads, and what has come from it.
    Launcher(Talk, Decoder),
    /// Why this host is to end what it runs.
    Nobody(String),
}

/// Looks at the hosts in their order, each of which is waited for within this limit of silence; `lead` starts a process here that
/// takes the launcher's place.
pub(crate) async fn seek(
    orphan: Orphan,
    pass: Pass,
    silence: Duration,
    mut lead: impl FnMut() -> io::Result<()>,
) -> Found {
    let own = orphan.rank;
    let roll = orphan.roll.clone();
    let Ok(follow) = encode(&FromAgent::Follow(Box::new(orphan))) else {
        return Found::Nobody("what it is cannot be said".into());
    };
    let limit = silence.as_millis().div_ceil(TICK.as_millis()) as u32;
    let (mut search, mut leads) = (Search::new(own, limit), None);
    loop {
        let candidate = search.candidate();
        if candidate == own {
            if leads.is_none()
                && let Err(error) = lead()
            {
                return Found::Nobody(format!("no process can be started that leads the job: {error}"));
            }
            if leads.get_or_insert_with(Instant::now).elapsed() > STARTS_WITHIN {
                return Found::Nobody("the process that was to lead the job does not answer".into());
            }
        }
        let Some(door) = roll.door(candidate) else {
            search.on_dead();
            continue;
        };
        let tried = Instant::now();
        match reach(door, &pass).await {
            Reached::Dead => search.on_dead(),
            Reached::There(talk) => match ask(talk, &follow, &mut search).await {
                Answer::Leads(talk, decoder) => return Found::Launcher(talk, decoder),
                Answer::Out => return Found::Nobody("the job goes on without this host, if at all".into()),
                Answer::Nothing => sleep(PAUSE).await,
            },
            Reached::Nobody => {
                sleep(TICK.saturating_sub(tried.elapsed())).await;
                let ticks = tried.elapsed().as_millis() / TICK.as_millis();
                let _ = (0..ticks.max(1)).any(|_| pass_over(&mut search));
            }
        }
    }
}

enum Answer {
    Leads(Talk, Decoder),
    Out,
    Nothing,
}

/// Says who one is, and waits for a word.
async fn ask(mut talk: Talk, follow: &[u8], search: &mut Search) -> Answer {
    if talk.write_all(follow).await.is_err() || talk.flush().await.is_err() {
        return Answer::Nothing;
    }
    let (mut decoder, mut bytes, candidate) = (Decoder::default(), vec![0; 4096], search.candidate());
    while search.candidate() == candidate {
        match decoder.next() {
            Ok(Some(ToAgent::Wait)) => search.on_word(),
            Ok(Some(ToAgent::Out)) => return Answer::Out,
            Ok(Some(_)) => return Answer::Leads(talk, decoder),
            Ok(None) => match timeout(TICK, talk.read(&mut bytes)).await {
                Ok(Ok(count @ 1..)) => decoder.push(&bytes[..count]),
                Ok(_) => return Answer::Nothing,
                Err(_) => {
                    pass_over(search);
                }
            },
            Err(_) => return Answer::Nothing,
        }
    }
    Answer::Nothing
}

/// Nothing is heard of a host. Unlike on one's own, it cannot be made sure there that it is dead: that there are enough others has
/// to do. Whether it is waited for no longer.
fn pass_over(search: &mut Search) -> bool {
    let is_late = search.on_tick() == Patience::Fence;
    if is_late {
        search.on_dead();
    }
    is_late
}
