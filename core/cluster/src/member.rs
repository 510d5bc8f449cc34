//! A node's side of the control connection: how a process finds out that it is a node, and how it joins the job.
//!
//! [`joining`] → [`Joining::meet`] → [`Meeting::begin`], after which the program runs; [`Control`] is its voice from
//! the first moment to [`Control::done`].

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::net::SocketType;
use rustix::net::sockopt::socket_type;
use rustix::process::set_parent_process_death_signal;
use signal_hook::consts::SIGINT;
use talisman_ft::double::Order;
use talisman_ft::view::View;
use talisman_ft::{Epoch, Version};

use crate::control_thread;
use crate::descriptors;
use crate::fixed_layout::{self, Refused, own_layout};
use crate::naming;
use crate::standby::Pledge;
use crate::voice::Control;
use talisman_base::build::{build_number, check_readable};
use talisman_base::frame::{Decoder, FrameError, encode};
use talisman_base::layout::mark::LayoutMark;
use talisman_control::logging::fragments::WordPiece;
use talisman_control::node_session::{Action, NodeSession, Unfit};
use talisman_control::protocol::{Place, Stop, Task, ToLauncher};
use talisman_job::progress::Steps;
use talisman_job::snapshot::figures::NodeFigures;
use talisman_job::variables::CONTROL_VARIABLE;

/// What the launcher has a node do while its program runs. Called in the control thread: it must not wait for PEs.
pub trait NodeCommands: Send + Sync {
    /// The job is over: all PEs are to stop, and then [`Control::done`] is to be called.
    fn stop(&self, stop: Stop);

    /// How far the program says it is.
    fn steps(&self) -> Steps;

    /// Nodes are lost: all PEs are to stop, `Halted` is to be said, and then `resume` is waited for. Only jobs with `--ft`
    /// are told this; it may come at any time, also after `stop`, and again before `resume`.
    fn halt(&self, epoch: Epoch, lost: Vec<u32>) {
        let _ = (epoch, lost);
    }

    /// Which process each node is now, told before `resume`, if any was replaced.
    fn places(&self, places: Vec<Place>) {
        let _ = places;
    }

    /// All have halted: the PEs are to be made anew, and `Resumed` is to be said.
    fn resume(&self, order: Order) {
        let _ = order;
    }

    /// Somebody asks for a checkpoint, which may be to be on disk, and from which the others may be to go on without some nodes.
    fn checkpoint(&self, on_disk: bool, leaving: Vec<u32>) {
        let _ = (on_disk, leaving);
    }

    /// Somebody asks for a step of load balancing.
    fn balance(&self) {}

    /// Somebody looks at the job: the PEs are asked for what they have counted.
    fn look(&self) {}

    /// What they have said, and the node knows; none where nothing is shown.
    fn figures(&self) -> Option<NodeFigures> {
        None
    }

    /// All connections with other nodes are to be tried for so long at most, and `Tried` is to be said with this number.
    fn try_connections(&self, inquiry: u32, limit: Duration) {
        let _ = (inquiry, limit);
    }

    /// The nodes that could not be reached, and still are not, and why.
    fn complaints(&self) -> Vec<(u32, String)> {
        Vec::new()
    }

    /// The launcher has printed a piece of the lines of a node that this version ended.
    fn lines_seen(&self, version: Version, node: u32, piece: u32) {
        let _ = (version, node, piece);
    }

    /// The lines that a launcher has printed, by version, node and piece, as far as others may say them again.
    fn seen(&self) -> Vec<(Version, u32, u32)> {
        Vec::new()
    }

    /// How the job has failed, if it has.
    fn failed(&self) -> Option<Stop> {
        None
    }

    /// How it has ended, if nothing takes that back.
    fn ended(&self) -> Option<Stop> {
        self.failed()
    }

    /// Who is there by now, if others than the task says.
    fn view(&self) -> Option<View> {
        None
    }

    /// The largest life of a process of the job that was heard of here, but for what the launcher says beside.
    fn lives(&self) -> u64 {
        0
    }

    /// The launcher says something about the logs of messages (`--ft logging`): a piece of that.
    fn logging(&self, piece: WordPiece) {
        let _ = piece;
    }

    /// All nodes have said `Done`, after which this one waits for this or for `halt`: the process is to end.
    fn leave(&self) {}
}

/// Whether this process was started as a node, and what it is then.
///
/// Has to be called before any other thread is started: it changes the environment, so that no child process of the
/// program takes itself for a node.
///
/// # Errors
/// The launcher's connection is not there, or does not say what it should, or the system gives too little to go on. The
/// launcher has been told if it could be: this process only has to end.
pub fn joining() -> Option<Result<Joining, JoinError>> {
    naming::take_up();
    let number = std::env::var_os(CONTROL_VARIABLE)?;
    // SAFETY: no other thread reads the environment, by this function's contract.
    unsafe { std::env::remove_var(CONTROL_VARIABLE) };
    Some(Joining::start(&number))
}

/// A node that knows its task, and that nobody can reach yet.
pub struct Joining {
    task: Arc<Task>,
    layout: Option<LayoutMark>,
    control: Control,
    /// Of a node that is there while somebody stands by for its launcher.
    pledge: Option<Pledge>,
}

impl Joining {
    fn start(number: &OsStr) -> Result<Self, JoinError> {
        let launcher = UnixStream::from(inherited(number).ok_or(JoinError::NoConnection)?);
        let last_words = launcher.try_clone()?;
        Joining::join(launcher).inspect_err(|error| fail(last_words, error))
    }

    fn join(mut launcher: UnixStream) -> Result<Self, JoinError> {
        // Ctrl-C goes to all processes of a terminal; the launcher alone decides what it means.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
        fixed_layout::check()?;
        let layout = own_layout()?;
        let mut node_session = NodeSession::new(build_number()).laid_out(layout.clone());
        launcher.write_all(&encode(&NodeSession::hello(std::process::id(), layout.clone()))?)?;
        check_readable()?;
        let mut decoder = Decoder::default();
        let task = task(&mut launcher, &mut decoder, &mut node_session)?;
        naming::is_node(task.number);
        keep_from_children(&task)?;
        let pledge = task.heritage.as_ref().and_then(|heritage| heritage.pledge);
        let pledge = pledge.map(Pledge::inherited).transpose()?;
        descriptors::raise_limit();
        let control = control_thread::start(launcher, decoder, node_session, &task)?;
        Ok(Joining { task, layout, control, pledge })
    }

    /// What this node is.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// Where everything is in this process, if its program needs that to be the same in all.
    pub fn layout(&self) -> Option<&LayoutMark> {
        self.layout.as_ref()
    }

    /// Its voice, which may say things from now on.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Says where this node can be reached, and waits until all nodes have said so. If the job ends before, so does
    /// this process.
    pub fn meet(self, address: Option<SocketAddr>) -> Meeting {
        self.control.ready(address);
        let addresses = self.control.wait_for_book();
        let outlives = self.task.heritage.is_some();
        Meeting { addresses, outlives, pledge: self.pledge, control: self.control }
    }
}

/// A node that knows where all others are, and is not linked with them yet.
pub struct Meeting {
    /// Where each node listens.
    pub addresses: Vec<Option<SocketAddr>>,
    /// Whether the job goes on without its launcher.
    outlives: bool,
    pledge: Option<Pledge>,
    pub control: Control,
}

impl Meeting {
    /// Says that this node is linked with all others, and waits until all are. If the job ends before, so does this
    /// process; from then on its end goes to `orders`. Has to be called in the main thread.
    pub fn begin(self, orders: Arc<dyn NodeCommands>) -> Control {
        self.control.give(orders);
        self.control.send(ToLauncher::Linked);
        self.control.wait_for_go();
        if self.outlives {
            // From here on the end of the launcher is not that of the job.
            let _ = set_parent_process_death_signal(None);
            // In this order: who stands by must not be gone while the launcher's end is still that of this process.
            self.pledge.into_iter().for_each(Pledge::begun);
        }
        self.control
    }
}

/// Why a process cannot be a node.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The variable does not name a connection.
    #[error("{CONTROL_VARIABLE} is set, but not by a launcher: it does not name a connection; unset it")]
    NoConnection,
    /// It is not one of this launcher.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Its addresses are not those of the other nodes.
    #[error(transparent)]
    Layout(#[from] Refused),
    /// What came cannot be read.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// The system refused something.
    #[error("the node cannot start: {0}")]
    System(#[from] io::Error),
}

/// The descriptor with this number, if it is an open socket.
fn inherited(number: &OsStr) -> Option<OwnedFd> {
    let number: RawFd = number.to_str()?.parse().ok().filter(|number| *number > 2)?;
    // SAFETY: the borrow is only used for calls that fail if there is no such descriptor.
    let found = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_getfd(found).ok()?;
    (socket_type(found) == Ok(SocketType::STREAM)).then_some(())?;
    fcntl_setfd(found, FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, and the launcher left it for this process alone; the variable that names it is gone.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Tells the launcher why this node will not be there; one that does not listen has reasons of its own.
fn fail(mut launcher: UnixStream, error: &JoinError) {
    if let Ok(frame) = encode(&ToLauncher::Failed(error.to_string())) {
        let _ = launcher.write_all(&frame);
    }
}

/// Waits for the task, which is what the launcher says first.
fn task(
    launcher: &mut UnixStream,
    decoder: &mut Decoder,
    node_session: &mut NodeSession,
) -> Result<Arc<Task>, JoinError> {
    let mut bytes = [0; 4096];
    loop {
        let action = match decoder.next()? {
            Some(message) => node_session.on_message(message),
            None => match launcher.read(&mut bytes)? {
                0 => Some(node_session.on_end()),
                count => {
                    decoder.push(&bytes[..count]);
                    None
                }
            },
        };
        match action {
            Some(Action::Join(task)) => return Ok(task),
            Some(Action::Refuse(unfit)) => return Err(unfit.into()),
            // The job is over before it began.
            Some(Action::Exit) => std::process::exit(0),
            _ => {}
        }
    }
}

/// The host's descriptors are for this process, not for programs that it may start.
fn keep_from_children(task: &Task) -> io::Result<()> {
    for number in task.host.memory.iter().chain(&task.host.bells) {
        // SAFETY: the borrow is only used for a call that fails if there is no such descriptor.
        let descriptor = unsafe { BorrowedFd::borrow_raw(*number) };
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    Ok(())
}
