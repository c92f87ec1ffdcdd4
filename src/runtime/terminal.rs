//! The terminal: taken over at the start, given back in every case, also after a panic.

use std::cell::RefCell;
use std::io::{self, Stdout, Write};
use std::panic;
use std::rc::Rc;

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::input::Input;
use crate::app::{Model, view};
use crate::base64;

const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";
/// What terminals take of a clipboard text at least (xterm's limit is the lowest).
const CLIPBOARD_BYTES: usize = 74_994;

/// Gathers the bytes of a frame, which leave in one write.
#[derive(Debug, Clone, Default)]
struct Gathered(Rc<RefCell<Vec<u8>>>);

impl Write for Gathered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal while the UI has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Gathered>>,
    frame: Gathered,
    out: Stdout,
    size: (u16, u16),
    mouse: bool,
}

impl Screen {
    pub(super) fn open(mouse: bool) -> io::Result<Self> {
        let size = terminal::size()?;
        restore_after_panic();
        take_over(mouse)?;
        let frame = Gathered::default();
        let options = TerminalOptions {
            viewport: Viewport::Fixed(Rect::new(0, 0, size.0, size.1)),
        };
        let terminal = Terminal::with_options(CrosstermBackend::new(frame.clone()), options)
            .inspect_err(|_| give_back())?;
        Ok(Self {
            terminal,
            frame,
            out: io::stdout(),
            size,
            mouse,
        })
    }

    pub(super) const fn size(&self) -> (u16, u16) {
        self.size
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        self.size = (columns, rows);
        self.terminal.resize(Rect::new(0, 0, columns, rows))
    }

    pub(super) fn draw(&mut self, model: &Model) -> io::Result<()> {
        self.terminal.draw(|frame| {
            if let Some(position) = view::draw(model, frame.buffer_mut()) {
                frame.set_cursor_position(position);
            }
        })?;
        let bytes = self.frame.0.take();
        let mut whole = Vec::with_capacity(bytes.len() + 16);
        whole.extend_from_slice(SYNC_BEGIN);
        whole.extend_from_slice(&bytes);
        whole.extend_from_slice(SYNC_END);
        self.out.write_all(&whole)?;
        self.out.flush()
    }

    /// Put text on the clipboard of the machine where the terminal is (OSC 52).
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let bytes = text.as_bytes();
        let kept = &bytes[..bytes.len().min(CLIPBOARD_BYTES)];
        write!(self.out, "\x1b]52;c;{}\x07", base64::encode(kept))?;
        self.out.flush()
    }

    /// Ring, and show a notification where the terminal can (OSC 9, OSC 777).
    pub(super) fn notify(&mut self, title: &str, body: &str) -> io::Result<()> {
        let plain = |text: &str| -> String {
            text.chars()
                .filter(|c| !c.is_control())
                .map(|c| if c == ';' { ',' } else { c })
                .collect()
        };
        let (title, body) = (plain(title), plain(body));
        write!(
            self.out,
            "\x07\x1b]9;{title}: {body}\x1b\\\x1b]777;notify;{title};{body}\x1b\\"
        )?;
        self.out.flush()
    }

    /// Give the terminal to `program` and take it back afterwards.
    pub(super) fn lend<T>(&mut self, input: &Input, program: impl FnOnce() -> T) -> io::Result<T> {
        let pause = input.pause();
        give_back();
        let outcome = program();
        take_over(self.mouse)?;
        drop(pause);
        let size = terminal::size()?;
        self.resize(size.0, size.1)?;
        self.terminal.clear()?;
        Ok(outcome)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take_over(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    let mut out = io::stdout();
    let begun = execute!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    );
    let begun = begun.and_then(|()| {
        if mouse {
            execute!(out, EnableMouseCapture)
        } else {
            Ok(())
        }
    });
    begun.inspect_err(|_| give_back())
}

/// Whatever of it fails, the rest is still done.
fn give_back() {
    let mut out = io::stdout();
    let _ = out.write_all(SYNC_END);
    let _ = execute!(out, DisableMouseCapture, DisableBracketedPaste);
    let _ = execute!(out, cursor::Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// A panic on any thread gives the terminal back before it reports, and ends the program.
fn restore_after_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        give_back();
        report(info);
        std::process::exit(101);
    }));
}
