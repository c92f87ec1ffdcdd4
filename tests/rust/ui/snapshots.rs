//! What the Jobs screen looks like: every state of the data, in both sizes, with and without colour.
//!
//! The pictures are in `tests/rust/snapshots`; `UPDATE_SNAPSHOTS=1` writes them anew. Below the
//! characters stand the styles, one line per stretch of cells that look alike.

use std::fmt::Write as _;
use std::path::PathBuf;

use crystalmath::config::Config;
use crystalmath::error::IpcError;
use crystalmath::msg::{Link, Msg};
use ratatui::buffer::Buffer;
use ratatui::style::Style;

use super::{Ui, job, not_built, picture, ready, refused, some_jobs};
use crystalmath::rpc::types::JobState;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// Characters, and the looks of each line.
fn whole(buffer: &Buffer) -> String {
    let mut text = picture(buffer);
    text.push_str("---\n");
    for y in 0..buffer.area.height {
        let mut runs: Vec<(u16, Style)> = Vec::new();
        for x in 0..buffer.area.width {
            let style = buffer[(x, y)].style();
            if runs.last().is_none_or(|(_, last)| *last != style) {
                runs.push((x, style));
            }
        }
        let runs: Vec<String> = runs
            .iter()
            .map(|(x, style)| format!("{x} {}", brief(*style)))
            .collect();
        let _ = writeln!(text, "{y:2}: {}", runs.join(" | "));
    }
    text
}

fn brief(style: Style) -> String {
    let colour = |colour: Option<ratatui::style::Color>| {
        colour.map_or_else(|| "-".to_owned(), |colour| colour.to_string())
    };
    let modifiers: Vec<String> = style
        .add_modifier
        .iter_names()
        .map(|(name, _)| name.to_lowercase())
        .collect();
    format!(
        "{} {} {}",
        colour(style.fg),
        colour(style.bg),
        modifiers.join("+")
    )
    .trim_end()
    .to_owned()
}

fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/rust/snapshots")
        .join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        wanted == text,
        "{name} looks different; if that is right, run with UPDATE_SNAPSHOTS=1\n{text}"
    );
}

fn each(name: &str, prepare: impl Fn(&mut Ui)) {
    each_named(&format!("jobs_{name}"), prepare);
}

/// Compare the picture in both sizes, with and without colour, and in ASCII.
pub fn each_named(name: &str, prepare: impl Fn(&mut Ui)) {
    for size in SIZES {
        let config = Config {
            ascii: true,
            ..Config::default()
        };
        let mut ui = Ui::with(config, size);
        prepare(&mut ui);
        let text = ui.picture(size);
        assert!(text.is_ascii(), "{name} in {size:?} is not ASCII:\n{text}");
        if size == SIZES[0] {
            check(&format!("{name}_{}x{}_ascii", size.0, size.1), &text);
        }
    }
    for size in SIZES {
        for no_colour in [false, true] {
            let config = Config {
                no_colour,
                ..Config::default()
            };
            let mut ui = Ui::with(config, size);
            prepare(&mut ui);
            let colour = if no_colour { "plain" } else { "colour" };
            let name = format!("{name}_{}x{}_{colour}", size.0, size.1);
            let buffer = ui.buffer(size);
            if no_colour {
                let coloured = buffer.content().iter().any(|cell| {
                    let reset = ratatui::style::Color::Reset;
                    cell.fg != reset || cell.bg != reset
                });
                assert!(!coloured, "{name} has a colour");
            }
            check(&name, &whole(&buffer));
        }
    }
}

#[test]
fn empty() {
    each("empty", |ui| ui.connect(&[]));
}

#[test]
fn loading() {
    each("loading", |_| {});
}

#[test]
fn data() {
    each("data", |ui| {
        ui.connect(&some_jobs());
        ui.keys(&["j", "space"]);
    });
}

#[test]
fn error() {
    each("error", |ui| {
        ui.send(ready("one"));
        ui.answer("events.subscribe", Err(not_built()));
        ui.answer(
            "jobs.list",
            Err(refused("database", "the database is locked")),
        );
    });
}

#[test]
fn stale() {
    each("stale", |ui| {
        ui.connect(&some_jobs());
        ui.send(Msg::Link(Link::Down {
            cause: "no daemon is running (/run/crystalmath.sock)".into(),
            hint: Some("start it with: crystalmath-server start".into()),
            log: Some("/state/server.log".into()),
        }));
        ui.clock(250.0);
    });
}

#[test]
fn help_palette_question_and_messages() {
    let size = (80, 24);
    let mut ui = Ui::of(&some_jobs(), size);
    for (name, keys) in [
        ("help", &["?"][..]),
        ("palette", &[":"]),
        ("question", &["c"]),
        ("columns", &["C"]),
        ("messages", &["m"]),
    ] {
        if name == "messages" {
            ui.answer("jobs.list", Err(IpcError::Protocol("garbage".into())));
        }
        ui.keys(keys);
        check(&format!("overlay_{name}"), &picture(&ui.buffer(size)));
        ui.keys(&["esc"]);
        if name == "columns" {
            ui.clock(2.0);
        }
    }
}

#[test]
fn in_ascii_nothing_else_is_drawn() {
    let config = Config {
        ascii: true,
        ..Config::default()
    };
    let mut ui = Ui::with(config, (120, 40));
    ui.connect(&some_jobs());
    assert!(ui.picture((120, 40)).is_ascii());
    for keys in ["?", ":", "c", "C", "T", "m", "y"] {
        ui.keys(&[keys]);
        assert!(ui.picture((120, 40)).is_ascii(), "{keys}");
        ui.keys(&["esc"]);
    }
    ui.send(Msg::Resize(30, 6));
    assert!(ui.picture((30, 6)).is_ascii());
}

#[test]
fn small_windows_say_what_still_works() {
    let ui = Ui::of(&[job(1, JobState::Running)], (30, 6));
    let text = ui.picture((30, 6));
    assert!(text.contains("1 jobs, 1 running"), "{text}");
    let ui = Ui::of(&some_jobs(), (60, 15));
    let text = ui.picture((60, 15));
    for word in ["running", "copper relax", "Enter open", "? help"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
}
