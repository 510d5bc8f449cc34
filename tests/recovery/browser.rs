//! A real browser, without a screen, that does what it is told by its own protocol (Chrome's DevTools) over two pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::disk::Folder;
use crate::job::{PATIENCE, until};

const BROWSER: &str = "chromium";
/// It talks at 3 and 4. It is not waited for without end.
const START: &str = "exec timeout -k 1 600 \"$@\" 3<&0 4>&1 0</dev/null 1>&2";
/// Keys that are pressed with Shift.
const SHIFT: u32 = 8;

pub fn chromium() -> Option<String> {
    let is_there = Command::new(BROWSER).arg("--version").output().is_ok_and(|said| said.status.success());
    (!is_there).then(|| format!("there is no {BROWSER}"))
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    says: ChildStdin,
    hears: Receiver<Value>,
    asked: u64,
    session: Option<String>,
    profile: Folder,
}

impl Browser {
    /// That shows this page.
    pub fn open(url: &str) -> Browser {
        let profile = Folder::new();
        let mut command = Command::new("sh");
        command.args(["-c", START, "sh", BROWSER, "--headless", "--no-sandbox", "--disable-gpu"]);
        command.args(["--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"]);
        command.arg(format!("--user-data-dir={}", profile.0.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("there is a shell");
        let says = process.stdin.take().expect("it is a pipe");
        let mut answers = BufReader::new(process.stdout.take().expect("it is a pipe"));
        let (sender, hears) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while answers.read_until(0, &mut bytes).is_ok_and(|count| count > 1) {
                let answer = serde_json::from_slice(&bytes[..bytes.len() - 1]).expect("it answers in JSON");
                bytes.clear();
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser { process, says, hears, asked: 0, session: None, profile };
        let page = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let page = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", page)["sessionId"].as_str().map(str::to_owned);
        browser.session = session;
        browser.ask("Page.enable", json!({}));
        browser.ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        browser.ask("Page.navigate", json!({ "url": url }));
        browser.wait_for("location.protocol === 'http:' && document.readyState === 'complete'");
        browser
    }

    /// What it answers.
    #[track_caller]
    fn ask(&mut self, method: &str, words: Value) -> Value {
        self.asked += 1;
        let mut asked = json!({ "id": self.asked, "method": method, "params": words });
        if let Some(session) = &self.session {
            asked["sessionId"] = session.as_str().into();
        }
        self.says.write_all(format!("{asked}\0").as_bytes()).expect("the browser listens");
        loop {
            // What it tells without having been asked is left out.
            let mut said = self.hears.recv_timeout(PATIENCE).expect("the browser answers");
            if said["id"] == self.asked {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].take();
            }
        }
    }

    /// What a script on the page gives, once it is there if it is promised.
    #[track_caller]
    pub fn run(&mut self, script: &str) -> Value {
        let words = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let mut said = self.ask("Runtime.evaluate", words);
        assert!(said["exceptionDetails"].is_null(), "{script}: {said}");
        said["result"]["value"].take()
    }

    /// Waits until a script on the page gives `true`.
    #[track_caller]
    pub fn wait_for(&mut self, script: &str) {
        let is_so = until(|| (self.run(script) == true).then_some(()));
        is_so.unwrap_or_else(|| panic!("never {script}: {}", self.run("document.body.innerText")));
    }

    /// A key is pressed.
    pub fn press(&mut self, key: &str) {
        self.press_with(key, 0);
    }

    pub fn press_with_shift(&mut self, key: &str) {
        self.press_with(key, SHIFT);
    }

    fn press_with(&mut self, key: &str, modifiers: u32) {
        let (number, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            other => panic!("no key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut words = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number, "modifiers": modifiers,
            });
            if kind == "keyDown" && !text.is_empty() {
                words["text"] = text.into();
            }
            self.ask("Input.dispatchKeyEvent", words);
        }
    }

    /// Keys of letters are pressed.
    pub fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// The mouse is pressed on what this names.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let find = format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{ block: 'center' }});
             const box = it.getBoundingClientRect();
             return {{ x: box.x + box.width / 2, y: box.y + box.height / 2 }}; }})()"
        );
        let at = self.run(&find);
        for kind in ["mousePressed", "mouseReleased"] {
            let words =
                json!({ "type": kind, "x": at["x"], "y": at["y"], "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", words);
        }
    }

    /// So wide is the window, and so dark does its user want pages.
    pub fn looks(&mut self, width: u32, scheme: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Keeps a picture of the whole page among the tests' files.
    pub fn picture(&mut self, name: &str) {
        let words = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.ask("Page.captureScreenshot", words);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
        std::fs::create_dir_all(&folder).expect("the folder is cargo's");
        let bytes = bytes_of(picture["data"].as_str().expect("a picture is text"));
        assert!(bytes.starts_with(b"\x89PNG"), "{name}");
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("the folder is ours");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends all that it has started.
        let _ = self.says.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let gone = until(|| self.process.try_wait().ok().flatten());
        if gone.is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        let _ = std::fs::remove_dir_all(&self.profile.0);
    }
}

/// Bytes of a text in base 64.
fn bytes_of(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes().take_while(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).expect("a letter of base 64");
        (bits, count) = (bits << 6 | value as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
