//! Who looks at a job while it runs: the page of `--dashboard`, and `talisman top`. Nodes are asked for their figures only as long as
//! somebody does, once a second.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use talisman_dashboard::{Dashboard, Question, Token};
use talisman_job::snapshot::Snapshot;

/// So often nodes are asked, while somebody looks.
const EVERY: Duration = Duration::from_secs(1);
/// So often at most, when somebody comes who waits for an answer.
const AT_MOST_EVERY: Duration = Duration::from_millis(250);
/// Nodes that have not answered within this time are shown as they were.
const ANSWERED_WITHIN: Duration = Duration::from_millis(250);

/// Those who look.
#[derive(Default)]
pub struct Seeing {
    dashboard: Option<Dashboard>,
    /// Requests that are answered by the next snapshot.
    waiting: Vec<u64>,
    /// When nodes were asked last, and whether that has come to a snapshot.
    asked: Option<Duration>,
    is_shown: bool,
}

/// What is to be done for those who look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Nobody looks, or has to wait.
    Nothing,
    /// Nodes are to be asked.
    Ask,
    /// A snapshot is to be shown.
    Show,
}

impl Seeing {
    /// Serves a page at this address, if one is wanted, to those who know what is behind this.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub async fn open(&mut self, address: SocketAddr, token: &[u8]) -> io::Result<String> {
        let dashboard = Dashboard::open(address, Token::of(token)).await?;
        let note = match dashboard.is_open_to_others() {
            true => " (others than this machine's users can reach it, and what it says is not encrypted)",
            false => "",
        };
        let line = format!("dashboard: {}{note}", dashboard.link());
        self.dashboard = Some(dashboard);
        Ok(line)
    }

    /// Waits for what somebody asks on the page.
    pub async fn question(&mut self) -> Option<Question> {
        match &mut self.dashboard {
            Some(dashboard) => dashboard.next().await,
            None => std::future::pending().await,
        }
    }

    /// A request of this number waits for a snapshot.
    pub fn wait(&mut self, number: u64) {
        self.waiting.push(number);
    }

    /// Time went by; all nodes may have answered.
    pub fn glance(&mut self, now: Duration, is_answered: bool) -> Glance {
        let is_looked_at = self.dashboard.as_ref().is_some_and(Dashboard::is_looked_at);
        self.decide(now, is_answered, is_looked_at)
    }

    fn decide(&mut self, now: Duration, is_answered: bool, is_looked_at: bool) -> Glance {
        let since = self.asked.map(|asked| now.saturating_sub(asked));
        if let Some(since) = since.filter(|_| !self.is_shown) {
            if !is_answered && since < ANSWERED_WITHIN {
                return Glance::Nothing;
            }
            self.is_shown = true;
            return Glance::Show;
        }
        let every = if self.waiting.is_empty() { EVERY } else { AT_MOST_EVERY };
        let is_wanted = is_looked_at || !self.waiting.is_empty();
        if !is_wanted || since.is_some_and(|since| since < every) {
            return Glance::Nothing;
        }
        (self.asked, self.is_shown) = (Some(now), false);
        Glance::Ask
    }

    /// Shows how the job stands; those who waited for that.
    pub fn show(&mut self, snapshot: Arc<Snapshot>) -> Vec<u64> {
        self.dashboard.iter().for_each(|dashboard| dashboard.show(snapshot.clone()));
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_asked_once_a_second_and_only_while_somebody_looks() {
        let mut seeing = Seeing::default();
        let at = Duration::from_millis;
        assert_eq!(seeing.decide(at(0), true, false), Glance::Nothing);
        assert_eq!(seeing.decide(at(100), true, true), Glance::Ask);
        assert_eq!(seeing.decide(at(200), false, true), Glance::Nothing, "a node has not answered");
        assert_eq!(seeing.decide(at(300), true, true), Glance::Show);
        assert_eq!(seeing.decide(at(900), true, true), Glance::Nothing);
        assert_eq!(seeing.decide(at(1100), true, true), Glance::Ask);
        assert_eq!(seeing.decide(at(1350), false, false), Glance::Show, "without those that do not answer");
        assert_eq!(seeing.decide(at(9000), true, false), Glance::Nothing);
    }

    #[test]
    fn who_waits_is_answered_by_what_is_asked_for_then() {
        let mut seeing = Seeing::default();
        seeing.wait(7);
        let at = Duration::from_millis;
        assert_eq!(seeing.decide(at(0), true, false), Glance::Ask);
        assert_eq!(seeing.decide(at(20), true, false), Glance::Show);
        assert_eq!(seeing.show(Arc::default()), [7]);
        assert_eq!(seeing.decide(at(40), true, false), Glance::Nothing);
        seeing.wait(8);
        assert_eq!(seeing.decide(at(60), true, false), Glance::Nothing, "others have just been asked");
        assert_eq!(seeing.decide(at(260), true, false), Glance::Ask);
    }
}
