//! What an agent does about the end of its launcher, if the job goes on then: it looks for another, or starts one.
//!
//! ```text
//! the launcher is gone ─► is the agent of the first host there? ─no─► of the second? ─ … ─► me: start a process that leads
//!                                └─yes─► Follow ─► (Wait, Wait, …) ─► its first order: as ever
//!                                                                └──► Out: the job goes on without this host
//! ```
//!
//! Whoever is asked and has a launcher asks that first whether it is there: one that has died may not be known to have.

use std::collections::BTreeSet;
use std::net::{IpAddr, TcpListener};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use tokio::io::split;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::super::succession::seeking::{Found, Successors, seek};
use super::agent::Reached;
use super::message::{FromAgent, ToAgent};
use super::relay::{self, Orders, Said, Voice, Window};
use crate::children::{self, Executable};
use crate::standby::{Pledge, keep_from_children};
use crate::succession::door::{Newcomer, Newcomers, Pass};
use crate::succession::estate::{Estate, Orphan, Will};
use crate::succession::successor;
use crate::takeover::hangup::has_terminal;
use crate::voice::die;
use talisman_base::auth::Secret;
use talisman_control::protocol::ToNode;
use talisman_control::succession::inquiries::Inquiries;
use talisman_control::succession::quorum::Roll;
use talisman_job::Results;

/// So many processes are started here at most, one after the other, that lead the job: those that end at once shall not go on for ever.
const LEADS: u32 = 32;

/// What an agent needs for that.
pub(super) struct Heir {
    estate: Estate,
    pass: Pass,
    executable: Executable,
    roll: Option<Roll>,
    /// Nodes whose program has begun.
    begun: BTreeSet<u32>,
    /// Whether any has, ever.
    has_begun: bool,
    /// Until that is known, if somebody stands by for the launcher.
    pledge: Option<Pledge>,
    settled: Option<Results>,
    said: Said,
    voices: mpsc::UnboundedSender<Voice>,
    window: Window,
    door: TcpListener,
    /// Those that come, unless a process that was started here listens.
    newcomers: Option<Newcomers>,
    /// Those that look for a launcher and have come here.
    callers: Inquiries<Newcomer>,
    searching: Option<JoinHandle<Found>>,
    /// The launcher's process, if it is on this host.
    launcher: Option<OwnedFd>,
    /// A process that was started here to take the launcher's place.
    successor: Arc<Mutex<Option<Child>>>,
    /// Whether it listens here in this agent's place, and that this has changed.
    is_led: Arc<(AtomicBool, Notify)>,
    /// How often that was so.
    led: u32,
    /// Whether the launcher was started at a terminal, which is to be there as long as the job.
    had_terminal: bool,
}

/// What an agent may wait for.
pub(super) enum Happened {
    Next(Next),
    Came(Newcomer),
}

/// What has become of a search.
pub(super) enum Next {
    /// Another launcher, and what it says.
    Launcher(Orders),
    /// There is none: this host ends what it runs.
    Nobody,
    /// It goes on.
    More,
}

impl Heir {
    /// Of an agent whose nodes listen at this address; it listens there too, and says so.
    pub(super) fn new(
        estate: Estate,
        executable: Executable,
        address: IpAddr,
        said: &Said,
        voices: mpsc::UnboundedSender<Voice>,
        window: &Window,
    ) -> Result<Self, String> {
        let why = |error: std::io::Error| format!("cannot listen at {address}: {error}");
        let door = door(&estate, address).map_err(why)?;
        let pledge = estate.legacy.as_ref().and_then(|legacy| legacy.pledge);
        let pledge = pledge.map(Pledge::inherited).transpose().map_err(|error| error.to_string())?;
        let pass = Pass::new(&estate).map_err(|error| error.to_string())?;
        let newcomers = Newcomers::at(door.try_clone().map_err(why)?, pass.clone()).map_err(why)?;
        let _ = said.send(FromAgent::Listening(door.local_addr().map_err(why)?));
        Ok(Heir {
            launcher: launcher(&estate),
            had_terminal: estate.legacy.is_some() && has_terminal(),
            estate,
            pass,
            executable,
            roll: None,
            begun: BTreeSet::new(),
            has_begun: false,
            pledge,
            settled: None,
            said: said.clone(),
            voices,
            window: window.clone(),
            door,
            newcomers: Some(newcomers),
            callers: Inquiries::default(),
            searching: None,
            successor: Arc::default(),
            is_led: Arc::default(),
            led: 0,
        })
    }

    pub(super) fn secret(&self) -> Secret {
        self.estate.secret.clone()
    }

    /// The launcher says something.
    pub(super) fn on_order(&mut self, order: &ToAgent) {
        match order {
            ToAgent::Say(node, ToNode::Go) => self.on_begun(*node),
            ToAgent::Say(_, ToNode::Settle(results)) => self.settled = Some(results.clone()),
            ToAgent::Roll(roll) => {
                let _ = self.said.send(FromAgent::Enrolled(roll.number));
                let launcher = if self.estate.legacy.is_some() {
                    None
                } else {
                    Reached::by_login().map(|reached| reached.from)
                };
                self.roll = Some(match launcher {
                    Some(launcher) => roll.clone().seen_from_afar(launcher),
                    None => roll.clone(),
                });
            }
            // It was there when that was asked, and whoever had lost it then has been lost by it.
            ToAgent::Here(number) => {
                for mut caller in self.callers.on_here(*number) {
                    caller.tell(&ToAgent::Out);
                }
            }
            _ => {}
        }
    }

    /// From now on it goes on without its launcher.
    fn on_begun(&mut self, node: u32) {
        self.begun.insert(node);
        self.has_begun = true;
        self.pledge.take().into_iter().for_each(Pledge::begun);
    }

    /// A node's process has ended.
    pub(super) fn on_end(&mut self, node: u32) {
        self.begun.remove(&node);
    }

    pub(super) fn has_begun(&self, node: u32) -> bool {
        self.begun.contains(&node)
    }

    /// The launcher of these nodes is gone, of which nothing had been heard for so long at most: whether another is looked for. One on this host that is only silent is killed.
    pub(super) fn seek(&mut self, nodes: Vec<u32>, unheard: Duration) -> bool {
        if let Some(launcher) = self.launcher.take() {
            children::kill(launcher.as_fd());
        }
        if let Some(mut former) = lock(&self.successor).take() {
            let _ = former.kill();
            let _ = former.wait();
        }
        self.look_at_terminal();
        let Some(roll) = self.roll.clone() else { return false };
        if self.led > LEADS || !self.begins_to_listen() {
            return false;
        }
        let (rank, has_begun, settled) = (self.estate.rank, self.has_begun, self.settled.clone());
        let orphan = Orphan { rank, roll, nodes, has_begun, settled, unheard };
        self.searching = Some(tokio::spawn(self.search(orphan)));
        true
    }

    /// Waits for the next one that comes, or for what has become of the search.
    pub(super) async fn next(&mut self) -> Happened {
        tokio::select! {
            newcomer = next_of(&mut self.newcomers) => Happened::Came(newcomer),
            () = self.is_led.1.notified() => {
                self.on_led(self.is_led.0.load(Ordering::Acquire));
                Happened::Next(Next::More)
            }
            found = end_of(&mut self.searching) => {
                self.searching = None;
                Happened::Next(self.on_found(found))
            }
        }
    }

    /// A process that was started here begins to listen, or does not any more.
    fn on_led(&mut self, is_led: bool) {
        if !is_led {
            // If it cannot, the others pass this host over.
            self.begins_to_listen();
            return;
        }
        // They find the process that listens here now.
        self.newcomers = None;
        self.callers.clear();
        self.led += 1;
    }

    /// Another agent has lost the launcher.
    pub(super) fn on_newcomer(&mut self, newcomer: Newcomer) {
        let question = self.callers.on_come(newcomer);
        if self.searching.is_none() {
            let _ = self.said.send(FromAgent::AreYouThere(question));
        }
    }

    /// Time goes by for those that wait.
    pub(super) fn tick(&mut self) {
        self.callers.keep(|newcomer| newcomer.tell(&ToAgent::Wait));
        if self.launcher.is_none() {
            self.look_at_terminal();
        }
    }

    fn search(&self, orphan: Orphan) -> impl Future<Output = Found> + Send + use<> {
        let (roll, successor, is_led) = (orphan.roll.clone(), self.successor.clone(), self.is_led.clone());
        let (mut estate, executable) = (self.estate.clone(), self.executable.clone());
        if let Some(legacy) = &mut estate.legacy {
            legacy.pledge = self.pledge.as_ref().map(Pledge::number);
        }
        let door = self.door.try_clone();
        let (pass, silence) = (self.pass.clone(), estate.silence);
        let will = Will { estate, roll };
        seek(orphan, pass, silence, Own { executable, will, door, successor, is_led })
    }

    fn on_found(&mut self, found: Found) -> Next {
        let (talk, decoder) = match found {
            Found::Launcher(talk, decoder) => (talk, decoder),
            Found::Nobody(why) => {
                successor::complain(&self.estate, &format!("talisman: error: the launcher is gone; {why}"));
                return Next::Nobody;
            }
        };
        let (reader, writer) = split(talk);
        self.window.open_again();
        let _ = self.voices.send(Box::new(writer));
        // It has to be asked whether it is there, as the one before.
        for number in self.callers.questions() {
            let _ = self.said.send(FromAgent::AreYouThere(number));
        }
        Next::Launcher(relay::hear(reader, decoder, self.window.clone()))
    }

    /// Whoever had been started here does not any more.
    fn begins_to_listen(&mut self) -> bool {
        if self.newcomers.is_none() {
            let door = self.door.try_clone();
            self.newcomers = door.and_then(|door| Newcomers::at(door, self.pass.clone())).ok();
        }
        self.newcomers.is_some()
    }

    /// Closing the terminal ends the job.
    fn look_at_terminal(&self) {
        if self.had_terminal && !has_terminal() {
            die();
        }
    }
}

/// What is started here to take the launcher's place.
struct Own {
    executable: Executable,
    will: Will,
    door: std::io::Result<TcpListener>,
    successor: Arc<Mutex<Option<Child>>>,
    is_led: Arc<(AtomicBool, Notify)>,
}

impl Own {
    fn is_led(&self, is_led: bool) {
        self.is_led.0.store(is_led, Ordering::Release);
        self.is_led.1.notify_one();
    }
}

impl Successors for Own {
    fn lead(&mut self) -> std::io::Result<()> {
        let door = self.door.as_ref().map_err(|error| std::io::Error::from(error.kind()))?;
        *lock(&self.successor) = Some(successor::start(&self.executable, &self.will, door)?);
        self.is_led(true);
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        let mut successor = lock(&self.successor);
        let has_ended =
            successor.as_mut().is_none_or(|process| matches!(process.try_wait(), Ok(Some(_)) | Err(_)));
        if has_ended {
            *successor = None;
            drop(successor);
            self.is_led(false);
        }
        has_ended
    }
}

/// Where others find this agent.
fn door(estate: &Estate, address: IpAddr) -> std::io::Result<TcpListener> {
    let Some(legacy) = &estate.legacy else { return TcpListener::bind((address, 0)) };
    legacy
        .streams
        .into_iter()
        .chain([legacy.door])
        .chain(legacy.spool.all())
        .try_for_each(keep_from_children)?;
    // SAFETY: the launcher left it open for this process alone, under this number, and this is done once.
    Ok(unsafe { OwnedFd::from_raw_fd(legacy.door) }.into())
}

/// The process that has started this one, if that is the launcher.
fn launcher(estate: &Estate) -> Option<OwnedFd> {
    let pid = Pid::from_raw(estate.legacy.as_ref()?.launcher.cast_signed())?;
    let process = pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?;
    // Whose child this is has not ended, so that nobody else can have its number.
    (getppid() == Some(pid)).then_some(process)
}

async fn next_of(newcomers: &mut Option<Newcomers>) -> Newcomer {
    match newcomers {
        Some(newcomers) => newcomers.next().await,
        None => std::future::pending().await,
    }
}

async fn end_of(searching: &mut Option<JoinHandle<Found>>) -> Found {
    match searching {
        Some(running) => running.await.unwrap_or_else(|error| Found::Nobody(error.to_string())),
        None => std::future::pending().await,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
