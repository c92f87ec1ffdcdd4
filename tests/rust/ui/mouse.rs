//! The mouse: rows, tabs, panes, hints of the footer, buttons and entries, and the wheel. A thing is
//! clicked where it is seen: the tests look for it in the picture.

use crystalmath::msg::{Action, Effect, Entry, Mouse, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::json;

use super::job::{detail, files, relaxed, series, text};
use super::{Ui, job, some_jobs};

const WIDE: (u16, u16) = (160, 40);
const SMALL: (u16, u16) = (80, 24);

/// Where these words are seen first.
fn place(ui: &Ui, size: (u16, u16), words: &str) -> (u16, u16) {
    let text = ui.picture(size);
    let found = text.lines().enumerate().find_map(|(y, line)| {
        let at = line.find(words)?;
        Some((crystalmath::widgets::text::width(&line[..at]), y))
    });
    let (x, y) = found.unwrap_or_else(|| panic!("{words:?} is not in\n{text}"));
    (u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
}

fn click(ui: &mut Ui, size: (u16, u16), words: &str) {
    let (x, y) = place(ui, size, words);
    ui.send(Msg::Mouse(Mouse::Click(x, y)));
}

fn title(ui: &Ui) -> String {
    let text = ui.picture(WIDE);
    let line = text.lines().nth(1).unwrap();
    line.rsplit('┬').next().unwrap().to_owned()
}

#[test]
fn a_row_a_pane_and_a_tab() {
    let mut ui = Ui::of(&some_jobs(), WIDE);
    click(&mut ui, WIDE, "copper relax");
    assert!(title(&ui).contains("1 copper relax"), "{}", title(&ui));
    // The tabs of the job; the pane has the keys then.
    click(&mut ui, WIDE, "Events");
    assert!(ui.picture(WIDE).contains("[Events]"));
    ui.keys(&["tab", "tab"]);
    click(&mut ui, WIDE, "Input");
    ui.keys(&["right"]);
    assert!(ui.picture(WIDE).contains("[Events]"));
    // Back to the list.
    click(&mut ui, WIDE, "out of memory");
    ui.keys(&["down"]);
    assert!(title(&ui).contains("1 copper relax"), "{}", title(&ui));
    // The frame of the detail pane gives it the keys; the tab of the header takes them back.
    click(&mut ui, WIDE, " 1 copper relax");
    ui.keys(&["left"]);
    assert!(ui.picture(WIDE).contains("[Input]"));
    click(&mut ui, WIDE, "1 Jobs");
    ui.keys(&["k"]);
    assert!(title(&ui).contains("2 job 2"), "{}", title(&ui));
}

#[test]
fn what_is_no_row_does_nothing() {
    let mut ui = Ui::of(&some_jobs(), WIDE);
    let before = ui.picture(WIDE);
    for at in [(3, 2), (3, 30), (159, 39), (200, 100), (100, 0), (0, 39)] {
        ui.send(Msg::Mouse(Mouse::Click(at.0, at.1)));
        assert_eq!(ui.picture(WIDE), before, "{at:?}");
    }
}

#[test]
fn every_hint_of_the_footer_can_be_clicked() {
    let size = (220, 40);
    let hints = |ui: &Ui| ui.picture(size).lines().last().unwrap().to_owned();
    let mut seen = 0;
    for info in Action::all() {
        let ui = Ui::of(&some_jobs(), size);
        let key = ui.model.keymap().main_key(info.action);
        let words = format!(" {key} {} ", info.title);
        if !format!("{} ", hints(&ui)).contains(&words) {
            continue;
        }
        seen += 1;
        let mut clicked = ui;
        let (x, y) = place(&clicked, size, words.trim_end());
        clicked.send(Msg::Mouse(Mouse::Click(x + 1, y)));
        let mut pressed = Ui::of(&some_jobs(), size);
        pressed.keys(&[info.keys[0]]);
        assert_eq!(
            clicked.picture(size),
            pressed.picture(size),
            "{}",
            info.name
        );
        assert_eq!(clicked.effects, pressed.effects, "{}", info.name);
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn a_question_has_buttons_and_a_click_beside_it_means_no() {
    let mut ui = Ui::of(&[job(1, JobState::Running)], SMALL);
    for (words, cancels) in [("n  No", false), ("Jobs 1", false), ("y  Cancel", true)] {
        ui.keys(&["c"]);
        assert!(ui.picture(SMALL).contains("Cancel job 1?"));
        click(&mut ui, SMALL, words);
        assert!(!ui.picture(SMALL).contains("Cancel job 1?"), "{words}");
        assert_eq!(ui.asked("jobs.cancel").is_some(), cancels, "{words}");
    }
}

#[test]
fn entries_of_lists_and_of_the_palette_are_taken() {
    let mut ui = Ui::of(&some_jobs(), SMALL);
    ui.keys(&["T"]);
    click(&mut ui, SMALL, "high-contrast");
    assert!(!ui.picture(SMALL).contains("high-contrast"));
    assert!(
        ui.effects
            .iter()
            .any(|effect| matches!(effect, Effect::Keep(_)))
    );
    ui.keys(&["C"]);
    click(&mut ui, SMALL, "Code that runs it");
    ui.keys(&["enter"]);
    assert!(!ui.picture(SMALL).contains("espresso"));
    ui.keys(&[":"]);
    ui.type_text("hel");
    click(&mut ui, SMALL, "Every key that works here");
    assert!(ui.picture(SMALL).contains("Help: type to filter"));
}

#[test]
fn the_wheel_turns_what_is_under_it() {
    let many: Vec<JobSummary> = (1..=100).map(|id| job(id, JobState::Completed)).collect();
    let mut ui = Ui::of(&many, WIDE);
    ui.send(Msg::Mouse(Mouse::Wheel(5, 10, 3)));
    assert!(title(&ui).contains("97 job 97"), "{}", title(&ui));
    ui.send(Msg::Mouse(Mouse::Wheel(5, 10, -3)));
    assert!(title(&ui).contains("100 job 100"), "{}", title(&ui));
    while ui.asked("jobs.get").is_some() {
        ui.answer("jobs.get", Ok(detail(&many[99])));
    }
    // Over the job it scrolls the job, and the list keeps its cursor.
    ui.send(Msg::Resize(WIDE.0, 20));
    let size = (WIDE.0, 20);
    let before = ui.picture(size);
    ui.send(Msg::Mouse(Mouse::Wheel(150, 10, 3)));
    let after = ui.picture(size);
    assert_ne!(before, after);
    assert!(after.contains("100 job 100"));
    // Over a list that lies over everything it moves that one.
    ui.keys(&["T"]);
    ui.send(Msg::Mouse(Mouse::Wheel(5, 10, 3)));
    ui.keys(&["enter"]);
    let kept = ui
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Keep(text) if text.contains("colour-blind")));
    assert!(kept);
}

#[test]
fn the_parts_of_a_job_can_be_clicked() {
    let size = (220, 40);
    let mut ui = Ui::of(&[relaxed()], size);
    ui.answer("jobs.get", Ok(detail(&relaxed())));
    ui.keys(&["enter", "z"]);
    click(&mut ui, size, "Plots");
    ui.answer("jobs.series", Ok(series()));
    click(&mut ui, size, "fmax");
    assert!(ui.picture(size).contains("[fmax]"));
    click(&mut ui, size, "Events");
    click(&mut ui, size, "the program runs");
    assert!(!ui.picture(size).contains("\"pid\": 7"));
    click(&mut ui, size, "the program runs");
    assert!(ui.picture(size).contains("\"pid\": 7"));
    click(&mut ui, size, "Files");
    ui.answer("jobs.files", Ok(files()));
    click(&mut ui, size, "relax.log");
    while ui.asked("jobs.read_file").is_some() {
        ui.answer(
            "jobs.read_file",
            Ok(text("first line\nsecond\n", "relax.log")),
        );
    }
    // The preview gets the keys by a click: f follows there.
    click(&mut ui, size, "second");
    assert!(ui.picture(size).contains("f follow"));
    click(&mut ui, size, "trajectory.extxyz");
    assert!(!ui.picture(size).contains("f follow"));
}

#[test]
fn files_and_fields_of_a_new_job_can_be_clicked() {
    let mut ui = Ui::of(&some_jobs(), SMALL);
    ui.model.data.client.directory = "/work".into();
    ui.keys(&["a"]);
    let id = ui.effects.iter().find_map(|effect| match effect {
        Effect::ListDirectory { id, .. } => Some(*id),
        _ => None,
    });
    let entries = ["aa.cif", "bb.cif", "cc.cif"].map(|name| Entry {
        name: name.into(),
        is_dir: false,
        bytes: 1,
    });
    ui.send(Msg::Directory {
        id: id.unwrap(),
        result: Ok(entries.to_vec()),
    });
    ui.answer("codes.list", Ok(super::new_job::codes()));
    ui.send(Msg::Mouse(Mouse::Wheel(5, 5, 1)));
    click(&mut ui, SMALL, "cc.cif");
    click(&mut ui, SMALL, "cc.cif");
    let looked = ui.effects.iter().find_map(|effect| match effect {
        Effect::LookAtFile { id, path } => Some((*id, path.clone())),
        _ => None,
    });
    let (id, path) = looked.unwrap();
    assert_eq!(path.to_str(), Some("/work/cc.cif"));
    ui.send(Msg::FileSeen {
        id,
        result: Ok(crystalmath::submission::Kind::Structure),
    });
    // Once puts the cursor there, twice writes in it.
    click(&mut ui, SMALL, "memory");
    ui.type_text("x");
    assert!(!ui.picture(SMALL).contains(" x "));
    click(&mut ui, SMALL, "memory");
    ui.type_text("4G");
    assert!(ui.picture(SMALL).contains(" 4G"));
    // The wheel leaves the field, and what was written stays.
    ui.send(Msg::Mouse(Mouse::Wheel(5, 5, 1)));
    ui.keys(&["esc"]);
    let asked = ui.effects.iter().rev().find_map(|effect| match effect {
        Effect::Call {
            method: "jobs.submit",
            params,
            ..
        } => Some(params.clone()),
        _ => None,
    });
    assert_eq!(asked.unwrap_or_default()["dry_run"], json!(true));
}
