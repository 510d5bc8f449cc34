//! What is seen of a running job (`--dashboard`): a page in the browser, data for it, and `/metrics` for Prometheus.
//!
//! | path | is |
//! |---|---|
//! | `/` | the page, which needs nothing else |
//! | `/events` | a stream of snapshots, as server-sent events |
//! | `/snapshot` | the snapshot of this moment, as JSON |
//! | `/metrics` | the same in Prometheus's text format |
//! | `/ask` (POST) | a request to the job, in the words of `talisman_job::asking`: the answer is text |
//!
//! Nobody gets anything without the token, in the query (`?token=`) or as `Authorization: Bearer`. There are no files and no templates: all
//! that is served is built in. Knows no launcher and no node: [`Door`] is all that they have in common.

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

mod answer;
pub mod hostile;
mod metrics;
mod page;
mod route;
mod serve;
mod token;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use metrics::metrics;
use serve::serve;
use talisman_job::asking::Request;
use talisman_job::snapshot::Snapshot;
pub use token::Token;

/// A request to the job, and where its answer goes.
pub type Question = (Request, oneshot::Sender<Result<String, String>>);

/// So many requests to the job may wait.
const QUESTIONS_MOST: usize = 16;

/// What those who look have in common with the launcher.
#[derive(Clone)]
pub struct Door {
    token: Arc<Token>,
    snapshots: Arc<watch::Sender<Option<Arc<Snapshot>>>>,
    questions: mpsc::Sender<Question>,
}

/// A page that is served until this is dropped.
pub struct Dashboard {
    address: SocketAddr,
    door: Door,
    questions: mpsc::Receiver<Question>,
    serving: JoinHandle<()>,
}

impl Dashboard {
    /// Serves at this address from now on, to those who know the token. Within a runtime of tokio.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub async fn open(address: SocketAddr, token: Token) -> io::Result<Dashboard> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (sender, questions) = mpsc::channel(QUESTIONS_MOST);
        let snapshots = Arc::new(watch::Sender::new(None));
        let door = Door { token: Arc::new(token), snapshots, questions: sender };
        let serving = tokio::spawn(serve(listener, door.clone()));
        Ok(Dashboard { address, door, questions, serving })
    }

    /// Where the page is, for people: whoever has this may look, and ask for what the job takes.
    pub fn link(&self) -> String {
        format!("http://{}/?token={}", self.address, self.door.token.text())
    }

    /// Whether others than users of this machine may come, who see what goes over the network.
    pub fn is_open_to_others(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Whether somebody looks at this moment.
    pub fn is_looked_at(&self) -> bool {
        self.door.snapshots.receiver_count() > 0
    }

    /// How the job stands now, for all who look.
    pub fn show(&self, snapshot: Arc<Snapshot>) {
        self.door.snapshots.send_replace(Some(snapshot));
    }

    /// Waits for the next request to the job.
    pub async fn next(&mut self) -> Option<Question> {
        self.questions.recv().await
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
