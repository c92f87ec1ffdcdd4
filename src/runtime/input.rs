//! Reads the terminal on a thread of its own and turns what comes into messages. It can be told to
//! leave the terminal alone for a while, when another program has it.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

use crate::keymap::{Code, Key};
use crate::msg::{Mouse, Msg};

/// Lines that one turn of the wheel moves.
const WHEEL_LINES: i16 = 3;
/// How long more events are looked for after one; with zero nothing would be read at all.
const LOOK: Duration = Duration::from_millis(1);

#[derive(Default)]
struct Gate {
    /// Whether the thread is to leave the terminal alone, and whether it does.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// The thread that reads.
pub(super) struct Input {
    gate: Arc<Gate>,
    wake: UnixStream,
}

/// While it lives, the terminal is not read.
pub(super) struct Pause<'a>(&'a Gate);

impl Input {
    pub(super) fn start(messages: Sender<Msg>) -> io::Result<Self> {
        let gate = Arc::new(Gate::default());
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        // A signal writes one byte, which ends the wait.
        pipe::register(SIGWINCH, wake.try_clone()?)?;
        let ended = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&ended))?;
            pipe::register(signal, wake.try_clone()?)?;
        }
        let own = Arc::clone(&gate);
        thread::Builder::new()
            .name("ui-input".into())
            .spawn(move || read(&own, woken, &ended, &messages))?;
        Ok(Self { gate, wake })
    }

    /// Leave the terminal alone; returns when the thread does.
    pub(super) fn pause(&self) -> Pause<'_> {
        let mut state = self
            .gate
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        // A full pipe wakes as well.
        let _ = (&self.wake).write(&[0]);
        while !state.1 {
            state = self
                .gate
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        Pause(&self.gate)
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = false;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Gate {
    /// Wait here while the terminal is somebody else's.
    fn pass(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 {
            state.1 = true;
            self.changed.notify_all();
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.1 = false;
    }
}

fn read(gate: &Gate, mut woken: UnixStream, ended: &AtomicBool, messages: &Sender<Msg>) {
    loop {
        gate.pass();
        let gone = wait(&woken);
        let mut bytes = [0; 64];
        let signalled = woken.read(&mut bytes).is_ok();
        if gone || ended.load(Ordering::Relaxed) {
            // The loop may have ended already.
            let _ = messages.send(Msg::Quit);
            return;
        }
        if signalled && let Ok((columns, rows)) = crossterm::terminal::size() {
            let _ = messages.send(Msg::Resize(columns, rows));
        }
        while let Ok(true) = event::poll(LOOK) {
            let msg = match event::read() {
                Ok(event) => message(event),
                Err(_) => Some(Msg::Quit),
            };
            if let Some(msg) = msg
                && messages.send(msg).is_err()
            {
                return;
            }
        }
    }
}

/// Wait until the terminal or the pipe has something; whether the terminal is gone.
fn wait(woken: &UnixStream) -> bool {
    let stdin = io::stdin();
    let mut ready = [
        PollFd::new(&stdin, PollFlags::IN),
        PollFd::new(woken, PollFlags::IN),
    ];
    match poll(&mut ready, None) {
        Ok(_) => {
            let seen = ready[0].revents();
            seen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
                && !seen.contains(PollFlags::IN)
        }
        Err(error) => error != rustix::io::Errno::INTR,
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => convert(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Mouse(mouse) => {
            let (x, y) = (mouse.column, mouse.row);
            Some(Msg::Mouse(match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Mouse::Click(x, y),
                MouseEventKind::ScrollDown => Mouse::Wheel(x, y, WHEEL_LINES),
                MouseEventKind::ScrollUp => Mouse::Wheel(x, y, -WHEEL_LINES),
                _ => return None,
            }))
        }
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        // The size comes with its signal.
        Event::Resize(..) | Event::Key(_) => None,
    }
}

fn convert(key: KeyEvent) -> Option<Key> {
    let code = match key.code {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab | KeyCode::BackTab => Code::Tab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Insert => Code::Insert,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    let shift = key.modifiers.contains(KeyModifiers::SHIFT) || key.code == KeyCode::BackTab;
    Some(Key {
        code,
        ctrl: key.modifiers.contains(KeyModifiers::CONTROL),
        alt: key.modifiers.contains(KeyModifiers::ALT),
        shift: shift && !matches!(code, Code::Char(_)),
    })
}
