//! What the hosts of a job have of a former one, found out before any node is started.
//!
//! Each host's agent is started for that alone: it answers, and ends. All look at their folders at the same time.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use talisman_ft::Version;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::interval;

use super::asks::Asks;
use super::conversation::{READ, greet, write};
use super::message::{FromAgent, ToAgent};
use super::session::Session;
use crate::descriptors;
use talisman_base::frame::Decoder;
use talisman_base::ids::PeId;
use talisman_control::agent_watch::{Watch, silent};
use talisman_control::heartbeat::{Heartbeat, TICK};
use talisman_control::hosts::{LOCALHOST, Share};
use talisman_pup::Packed;
use talisman_store::disk::KeyFile;
use talisman_store::files::catalog::{Hosts, Place};
use talisman_store::files::image;
use talisman_store::files::listing::Listing;
use talisman_store::files::remote::{self, Answer, Ask, What};

/// Why an answer that came is of no use.
const OTHER_ANSWER: &str = "it answers something else than it was asked";

/// The hosts of a job and the folder that they are asked about.
pub struct Survey {
    runtime: Runtime,
    dir: PathBuf,
    /// Of the files there.
    key: KeyFile,
    hosts: Vec<Surveyed>,
    /// What each has.
    listings: BTreeMap<u32, Listing>,
}

/// One of them, at the place of its number.
struct Surveyed {
    name: String,
    /// The conversation with its agent; none for the launcher's own.
    agent: Option<Agent>,
}

struct Agent {
    asks: Asks,
    orders: mpsc::UnboundedSender<ToAgent>,
    /// Why there is no more to come.
    serving: JoinHandle<String>,
}

/// What has to be there on each host.
#[derive(Clone)]
struct Wanted {
    share: Share,
    program: PathBuf,
    build: u64,
    silence: Duration,
}

impl Survey {
    /// Asks all of them what is in the folder: those of these shares, by their places, and behind them this one, if it is none of them.
    ///
    /// # Errors
    /// The outer one is the system's, the inner one says which host cannot take part, and why.
    pub fn of(
        shares: &[Share],
        (dir, key): (&Path, &KeyFile),
        build: u64,
        silence: Duration,
    ) -> io::Result<Result<Self, String>> {
        let runtime = descriptors::runtime()?;
        let program = std::env::current_exe()?;
        let inside = runtime.enter();
        let mut hosts: Vec<Surveyed> = Vec::new();
        for share in shares {
            let name = share.host.to_string();
            let wanted = || Wanted { share: share.clone(), program: program.clone(), build, silence };
            hosts.push(Surveyed { name, agent: (!share.host.is_local()).then(|| Agent::start(wanted())) });
        }
        if shares.iter().all(|share| !share.host.is_local()) {
            hosts.push(Surveyed { name: LOCALHOST.to_owned(), agent: None });
        }
        drop(inside);
        let mut survey =
            Survey { runtime, dir: dir.to_owned(), key: key.clone(), hosts, listings: BTreeMap::new() };
        Ok(survey.look().map(|()| survey))
    }

    /// There is no more to ask: the agents end.
    pub fn end(self) {
        let Survey { runtime, hosts, .. } = self;
        let serving: Vec<_> = hosts.into_iter().filter_map(|host| Some(host.agent?.serving)).collect();
        runtime.block_on(async {
            for serving in serving {
                let _ = serving.await;
            }
        });
    }

    fn look(&mut self) -> Result<(), String> {
        let all = (0..self.hosts.len() as u32).map(|host| (host, What::List)).collect();
        for (host, answer) in self.ask(all)? {
            let name = &self.hosts[host as usize].name;
            let listing = match answer {
                Answer::Listed(listing) => listing.and_then(|listing| match listing.what_is_wrong() {
                    None => Ok(listing),
                    Some(why) => Err(why),
                }),
                _ => Err(OTHER_ANSWER.into()),
            };
            let dir = self.dir.display();
            let listing = listing
                .map_err(|why| format!("cannot look for checkpoints in {dir} on the host {name}: {why}"))?;
            self.listings.insert(host, listing);
        }
        Ok(())
    }

    /// Asks several hosts at once.
    fn ask(&mut self, all: Vec<(u32, What)>) -> Result<Vec<(u32, Answer)>, String> {
        let Survey { runtime, hosts, dir, key, .. } = self;
        runtime.block_on(async {
            let ask =
                |(host, what): (u32, What)| (host, hosts[host as usize].ask(Ask::of((&*dir, &*key), what)));
            let asked: Vec<_> = all.into_iter().map(ask).collect();
            let mut answers = Vec::new();
            for (host, answer) in asked {
                match answer.await {
                    Ok(answer) => answers.push((host, answer)),
                    Err(_) => return Err(hosts[host as usize].why_lost().await),
                }
            }
            Ok(answers)
        })
    }
}

impl Surveyed {
    fn ask(&self, ask: Ask) -> oneshot::Receiver<Answer> {
        match &self.agent {
            Some(agent) => agent.asks.ask(ask, |message| agent.orders.send(message).is_ok()),
            None => answer_here(ask),
        }
    }

    async fn why_lost(&mut self) -> String {
        match &mut self.agent {
            Some(agent) => (&mut agent.serving).await.unwrap_or_else(|error| error.to_string()),
            None => "this host's folder cannot be read".into(),
        }
    }
}

/// This host answers, beside whatever this thread does.
pub fn answer_here(ask: Ask) -> oneshot::Receiver<Answer> {
    let (answer, answered) = oneshot::channel();
    spawn_blocking(move || drop(answer.send(ask.answer())));
    answered
}

impl Agent {
    fn start(wanted: Wanted) -> Self {
        let (asks, (orders, queue)) = (Asks::default(), mpsc::unbounded_channel());
        let serving = tokio::spawn(serve(wanted, asks.clone(), queue));
        Agent { asks, orders, serving }
    }
}

/// To the end of what is asked; why there is no more to come, with the name of the host.
async fn serve(wanted: Wanted, asks: Asks, mut orders: mpsc::UnboundedReceiver<ToAgent>) -> String {
    let talked = talk(&wanted, &asks, &mut orders).await;
    drop(orders);
    asks.give_up();
    let Wanted { share, silence, .. } = &wanted;
    let why = talked.err().unwrap_or_else(|| "it was asked nothing more".into());
    Watch::new(&share.host.to_string(), share.numbers(), *silence).lose(&why).0
}

async fn talk(
    wanted: &Wanted,
    asks: &Asks,
    orders: &mut mpsc::UnboundedReceiver<ToAgent>,
) -> Result<(), String> {
    let Wanted { share, program, build, silence } = wanted;
    let session = Session::start(&share.host, program);
    let login = share.host.login.program();
    let mut ssh = session.map_err(|error| share.host.login.cannot_be_run(&error))?;
    let rest = greet(share, program, *build, &mut ssh).await?;
    let (said, sayings) = mpsc::unbounded_channel();
    let stdin = ssh.stdin.take().ok_or_else(|| format!("{login} has no standard input"))?;
    let writing = tokio::spawn(write(stdin, sayings));
    let (mut decoder, mut bytes) = (Decoder::default(), vec![0; READ]);
    decoder.push(&rest);
    let (mut ticks, mut heartbeat) = (interval(TICK), Heartbeat::new(*silence));
    let ended = loop {
        while let Some(message) = decoder.next().map_err(|error| error.to_string())? {
            heartbeat.heard();
            match message {
                FromAgent::Answer(number, answer) => asks.on_answer(number, answer),
                FromAgent::Failed(why) => return Err(why),
                _ => {}
            }
        }
        tokio::select! {
            count = ssh.stdout.read(&mut bytes) => match count.unwrap_or(0) {
                0 => break false,
                count => decoder.push(&bytes[..count]),
            },
            order = orders.recv() => match order {
                Some(order) => drop(said.send(order)),
                None => break true,
            },
            _ = ticks.tick() => {
                let _ = said.send(ToAgent::Ping);
                if heartbeat.tick() {
                    return Err(silent(*silence));
                }
            }
        }
    };
    writing.abort();
    let _ = writing.await;
    let how = ssh.end().await;
    if ended { Ok(()) } else { Err(ssh.lost(how)) }
}

impl Hosts for Survey {
    fn list(&mut self) -> Result<BTreeMap<u32, Listing>, String> {
        Ok(self.listings.clone())
    }

    fn check(
        &mut self,
        (job, version): (u64, Version),
        parts: &[(Place, PeId)],
    ) -> Result<Vec<Option<String>>, String> {
        let mut of_hosts = BTreeMap::<u32, Vec<usize>>::new();
        for (number, (place, _)) in parts.iter().enumerate() {
            of_hosts.entry(place.host).or_default().push(number);
        }
        let check = |numbers: &Vec<usize>| {
            let parts = numbers.iter().map(|number| (parts[*number].0.node, parts[*number].1)).collect();
            What::Check { job, version, parts }
        };
        let asked = of_hosts.iter().map(|(host, numbers)| (*host, check(numbers))).collect();
        let mut wrong = vec![None; parts.len()];
        for (host, answer) in self.ask(asked)? {
            let numbers = &of_hosts[&host];
            let Answer::Checked(found) = answer else { return Err(self.nonsense(host)) };
            if found.len() != numbers.len() {
                return Err(self.nonsense(host));
            }
            numbers.iter().zip(found).for_each(|(number, found)| wrong[*number] = found);
        }
        Ok(wrong)
    }

    fn part(&mut self, (job, version): (u64, Version), place: Place, pe: PeId) -> Result<Packed, String> {
        let file = remote::whole(|from| {
            let what = What::Read { node: place.node, version, pe, from };
            match self.ask(vec![(place.host, what)])?.pop() {
                Some((_, Answer::Read(piece))) => piece,
                _ => Err(self.nonsense(place.host)),
            }
        })?;
        image::of_file(file, &self.key, (job, version), pe).map_err(|error| error.to_string())
    }

    fn name(&self, host: u32) -> Option<&str> {
        self.hosts.get(host as usize).map(|host| host.name.as_str())
    }
}

impl Survey {
    fn nonsense(&self, host: u32) -> String {
        format!("host {}: {OTHER_ANSWER}", self.name(host).unwrap_or_default())
    }
}
