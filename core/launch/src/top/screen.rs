//! The screen of `talisman top`: lines of the job, a load over time, a table of PEs that can be scrolled, and keys that ask for something.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, sleep};
use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Sparkline};

use super::{EVERY, look, text};
use talisman_job::asking::{Request, ask};
use talisman_job::snapshot::Snapshot;

/// A key is seen within this time, and so is a snapshot.
const TICK: Duration = Duration::from_millis(100);
/// Rows of the plot.
const PLOT: u16 = 5;

/// What is on the screen.
struct Screen {
    job: u32,
    snapshot: Snapshot,
    /// Lines of PEs and losses that are above the screen.
    scrolled: u16,
    /// A request that waits for a yes.
    asks: Option<Request>,
    /// What the last one came to, or why the job is not seen any more.
    note: String,
    answers: Option<Receiver<String>>,
}

/// What the reader did.
enum Key {
    Nothing,
    Leave,
}

/// Shows the job until the reader or the job ends; what is to be said then.
///
/// # Errors
/// There is no terminal that can be drawn on.
pub(super) fn show(job: u32, snapshot: Snapshot) -> Result<String, String> {
    let (sender, snapshots) = channel();
    // It ends with the process, or when nobody hears it any more.
    thread::spawn(move || {
        loop {
            sleep(EVERY);
            let seen = look(job);
            let is_over = seen.is_err();
            if sender.send(seen).is_err() || is_over {
                return;
            }
        }
    });
    let mut terminal =
        ratatui::try_init().map_err(|error| format!("nothing can be drawn here: {error}; use --once"))?;
    let mut screen = Screen { job, snapshot, scrolled: 0, asks: None, note: String::new(), answers: None };
    let shown = screen.run(&mut terminal, &snapshots);
    ratatui::restore();
    shown.map_err(|error| format!("the terminal is gone: {error}"))
}

impl Screen {
    fn run(
        &mut self,
        terminal: &mut ratatui::DefaultTerminal,
        snapshots: &Receiver<Result<Snapshot, String>>,
    ) -> io::Result<String> {
        loop {
            match snapshots.try_recv() {
                Ok(Ok(snapshot)) => self.snapshot = snapshot,
                Ok(Err(why)) => return Ok(format!("{}: {why}\n", self.snapshot.program)),
                Err(_) => {}
            }
            if let Some(answer) = self.answers.as_ref().and_then(|answers| answers.try_recv().ok()) {
                (self.note, self.answers) = (answer, None);
            }
            terminal.draw(|frame| self.draw(frame))?;
            if event::poll(TICK)?
                && let Key::Leave = self.on_event(&event::read()?)
            {
                return Ok(String::new());
            }
        }
    }

    fn on_event(&mut self, event: &Event) -> Key {
        let Event::Key(key) = event else { return Key::Nothing };
        if key.kind != KeyEventKind::Press {
            return Key::Nothing;
        }
        if let Some(request) = self.asks.take() {
            if key.code == KeyCode::Char('y') {
                self.ask(request);
            }
            return Key::Nothing;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Key::Leave,
            KeyCode::Char('q') | KeyCode::Esc => return Key::Leave,
            KeyCode::Char('c') => self.want("checkpoint", Request::Checkpoint),
            KeyCode::Char('b') => self.want("balance", Request::Balance),
            KeyCode::Char('g') => self.want("grow", Request::Grow(None)),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1),
            KeyCode::Up | KeyCode::Char('k') => self.scroll(-1),
            KeyCode::PageDown => self.scroll(10),
            KeyCode::PageUp => self.scroll(-10),
            _ => {}
        }
        Key::Nothing
    }

    fn scroll(&mut self, lines: i16) {
        let most = self.table().len().saturating_sub(1).min(usize::from(u16::MAX)) as u16;
        self.scrolled = self.scrolled.saturating_add_signed(lines).min(most);
    }

    fn want(&mut self, name: &str, request: Request) {
        if self.snapshot.takes.iter().any(|taken| taken == name) {
            self.asks = Some(request);
        } else {
            self.note = format!("this job does not take `{name}`");
        }
    }

    /// The answer may take as long as a recovery: it is not waited for here.
    fn ask(&mut self, request: Request) {
        let (sender, answers) = channel();
        let job = self.job;
        self.note = format!("{request}: the job is asked …");
        self.answers = Some(answers);
        thread::spawn(move || {
            let answer = ask(job, &request).unwrap_or_else(|why| why);
            let _ = sender.send(format!("{request}: {answer}"));
        });
    }

    fn table(&self) -> Vec<String> {
        [text::pes(&self.snapshot), text::losses(&self.snapshot)].concat()
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let head = text::head(&self.snapshot);
        let rows = [
            Constraint::Length(head.len() as u16),
            Constraint::Length(PLOT),
            Constraint::Min(1),
            Constraint::Length(1),
        ];
        let [above, plot, middle, below] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(paragraph(head), above);
        let loads: Vec<u64> = self.snapshot.past.iter().map(|point| (point.load * 100.0) as u64).collect();
        let latest = loads.len().saturating_sub(usize::from(plot.width));
        let now = loads.last().map_or(String::new(), |load| format!(": {load} %"));
        let title = Block::new().title(format!("load of PEs{now}"));
        frame.render_widget(Sparkline::default().block(title).max(100).data(&loads[latest..]), plot);
        frame.render_widget(paragraph(self.table()).scroll((self.scrolled, 0)), middle);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        frame.render_widget(Paragraph::new(self.foot()).style(reversed), below);
    }

    fn foot(&self) -> String {
        match &self.asks {
            Some(request) => format!(" {request}: y to have it done, any other key not to"),
            None if self.note.is_empty() => {
                " q leave   arrows scroll   c checkpoint   b balance   g grow".into()
            }
            None => format!(" {}", self.note),
        }
    }
}

fn paragraph(lines: Vec<String>) -> Paragraph<'static> {
    Paragraph::new(lines.into_iter().map(Line::from).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::KeyEvent;

    use super::*;
    use talisman_job::snapshot::{Node, Pe};

    fn screen() -> Screen {
        let pes = (0..50).map(|pe| Pe { pe, load: Some(0.5), ..Pe::default() }).collect();
        let nodes = vec![Node { stage: "running".into(), pes, ..Node::default() }];
        let snapshot = Snapshot { nodes, takes: vec!["checkpoint".into()], ..Snapshot::default() };
        Screen { job: 1, snapshot, scrolled: 0, asks: None, note: String::new(), answers: None }
    }

    fn drawn(screen: &Screen, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    fn press(screen: &mut Screen, code: KeyCode) -> Key {
        screen.on_event(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    #[test]
    fn it_fits_on_any_terminal() {
        for (width, height) in [(200, 60), (80, 24), (20, 3), (1, 1)] {
            drawn(&screen(), width, height);
        }
        let text = drawn(&screen(), 100, 30);
        assert!(text.contains("load of PEs") && text.contains("50 %") && text.contains("q leave"), "{text}");
    }

    #[test]
    fn nothing_is_asked_for_without_a_yes() {
        let mut screen = screen();
        press(&mut screen, KeyCode::Char('b'));
        assert!(screen.asks.is_none() && screen.note.contains("does not take `balance`"));
        press(&mut screen, KeyCode::Char('c'));
        assert_eq!(screen.asks, Some(Request::Checkpoint));
        assert!(drawn(&screen, 100, 30).contains("y to have it done"));
        press(&mut screen, KeyCode::Char('n'));
        assert!(screen.asks.is_none() && screen.answers.is_none());
        assert!(matches!(press(&mut screen, KeyCode::Char('q')), Key::Leave));
    }

    #[test]
    fn all_pes_can_be_scrolled_to() {
        let mut screen = screen();
        let last = |screen: &Screen| drawn(screen, 100, 30).contains(" 49  node 0");
        assert!(!last(&screen));
        (0..9).for_each(|_| _ = press(&mut screen, KeyCode::PageDown));
        assert!(last(&screen) && screen.scrolled == 50);
        (0..99).for_each(|_| _ = press(&mut screen, KeyCode::Up));
        assert_eq!(screen.scrolled, 0);
    }
}
