//! An agent without a launcher looks for the one that has taken its place, which may be one that it starts itself.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

use super::door::{Pass, Reached, reach};
use super::estate::Orphan;
use crate::remote::message::FromAgent;
use crate::remote::message::ToAgent;
use talisman_base::frame::{Decoder, encode};
use talisman_control::heartbeat::TICK;
use talisman_control::succession::discovery::{self, Discovery, Step, Word};
use talisman_transport::tcp::Talk;

/// It may take a moment until somebody listens, or is refused.
const PAUSE: Duration = Duration::from_millis(20);

/// What has become of a search.
pub enum Found {
    /// Whoever leads, and what has come from it.
    Launcher(Talk, Decoder),
    /// Why this host is to end what it runs.
    Nobody(String),
}

/// Processes that are started here to take the launcher's place, one after the other.
pub trait Successors {
    /// Starts one.
    ///
    /// # Errors
    /// The system gives no process, descriptor or file.
    fn lead(&mut self) -> io::Result<()>;

    /// Whether that has ended.
    fn has_ended(&mut self) -> bool;
}

/// Looks at the hosts in their order, each of which is waited for within this limit of silence; if none is left, the job is led from here.
pub async fn seek(orphan: Orphan, pass: Pass, silence: Duration, mut successors: impl Successors) -> Found {
    let mut quest = Discovery::new(orphan.rank, orphan.roll.clone(), silence);
    let Ok(follow) = encode(&FromAgent::Follow(Box::new(orphan))) else {
        return Found::Nobody("what it is cannot be said".into());
    };
    let began = Instant::now();
    loop {
        if quest.has_led() && successors.has_ended() {
            quest.on_led_ended();
        }
        let door = match quest.next(began.elapsed()) {
            Step::Try(door) => door,
            Step::GiveUp => {
                return Found::Nobody("the process that was to lead the job does not answer".into());
            }
            Step::Lead => match successors.lead() {
                Ok(()) => continue,
                Err(error) => {
                    return Found::Nobody(format!("no process can be started that leads the job: {error}"));
                }
            },
        };
        let tried = Instant::now();
        match reach(door, &pass).await {
            Reached::Dead => quest.on_dead(),
            Reached::There(talk) => match ask(talk, &follow, &mut quest).await {
                Answer::Leads(talk, decoder) => return Found::Launcher(talk, decoder),
                Answer::Out => return Found::Nobody("the job goes on without this host, if at all".into()),
                Answer::Nothing => sleep(PAUSE).await,
            },
            Reached::Nobody => {
                sleep(TICK.saturating_sub(tried.elapsed())).await;
                quest.on_nobody(tried.elapsed());
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
async fn ask(mut talk: Talk, follow: &[u8], quest: &mut Discovery) -> Answer {
    if talk.write_all(follow).await.is_err() || talk.flush().await.is_err() {
        return Answer::Nothing;
    }
    let (mut decoder, mut bytes) = (Decoder::default(), vec![0; 4096]);
    loop {
        match decoder.next() {
            Ok::<Option<ToAgent>, _>(Some(word)) => match quest.on_word(Word::from(&word)) {
                discovery::Answer::Waits => {}
                discovery::Answer::Out => return Answer::Out,
                discovery::Answer::Leads => return Answer::Leads(talk, decoder),
            },
            Ok(None) => match timeout(TICK, talk.read(&mut bytes)).await {
                Ok(Ok(count @ 1..)) => decoder.push(&bytes[..count]),
                Ok(_) => return Answer::Nothing,
                Err(_) if quest.on_tick() => return Answer::Nothing,
                Err(_) => {}
            },
            Err(_) => return Answer::Nothing,
        }
    }
}
