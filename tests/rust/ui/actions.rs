//! The action table: every action is reachable by key, by palette and by help, and keys are told
//! apart.

use std::collections::HashSet;

use crystalmath::config::Config;
use crystalmath::keymap::{Key, Keymap};
use crystalmath::msg::{Action, Scope};
use crystalmath::screens::SPECS;

use super::job::{detail, files, relaxed};
use super::{Ui, some_jobs};

const SIZE: (u16, u16) = (160, 60);

#[test]
fn names_and_keys_are_there_and_unique() {
    let names: HashSet<&str> = Action::all().iter().map(|info| info.name).collect();
    assert_eq!(names.len(), Action::all().len());
    let mut keys = HashSet::new();
    for info in Action::all() {
        assert_eq!(info.action.info().name, info.name);
        assert!(!info.keys.is_empty(), "{} has no key", info.name);
        for key in info.keys {
            let parsed = Key::parse(key).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(&parsed.to_string(), key);
            assert!(keys.insert(parsed), "{key} has two meanings");
        }
    }
}

#[test]
fn every_action_is_done_by_some_screen() {
    let config = Config::default();
    let own: HashSet<Action> = SPECS
        .iter()
        .flat_map(|spec| {
            let screen = (spec.make)(&config);
            screen
                .all_actions()
                .into_iter()
                .chain(spec.opened_by)
                .collect::<Vec<_>>()
        })
        .collect();
    for info in Action::all() {
        let everywhere = info.scope == Scope::Everywhere;
        assert!(
            everywhere || own.contains(&info.action),
            "nobody does {}",
            info.name
        );
    }
}

#[test]
fn every_action_is_found_by_help_and_key() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    for info in Action::all() {
        assert_eq!(
            ui.model.keymap().action(Key::parse(info.keys[0]).unwrap()),
            Some(info.action)
        );
        ui.keys(&["?"]);
        ui.type_text(info.name);
        let text = ui.picture(SIZE);
        // A long one goes on in the next row.
        let told = info.help.split_whitespace().all(|word| text.contains(word));
        assert!(told, "{} in\n{text}", info.name);
        ui.keys(&["esc", "esc"]);
    }
}

/// Every action that the palette offers here.
fn offered(ui: &mut Ui) -> HashSet<Action> {
    let all = Action::all().iter();
    all.filter(|info| {
        ui.keys(&[":"]);
        ui.type_text(info.name);
        let found = ui.picture(SIZE).contains(&format!(" {} ", info.name));
        ui.keys(&["esc"]);
        found
    })
    .map(|info| info.action)
    .collect()
}

#[test]
fn every_action_is_offered_by_the_palette_where_it_works() {
    let mut everywhere = HashSet::new();
    let mut ui = Ui::of(&[relaxed()], SIZE);
    everywhere.extend(offered(&mut ui));
    ui.answer("jobs.get", Ok(detail(&relaxed())));
    ui.keys(&["enter"]);
    for _ in 0..7 {
        everywhere.extend(offered(&mut ui));
        if ui.asked("jobs.files").is_some() {
            // With a file opened there are others.
            ui.answer("jobs.files", Ok(files()));
            ui.keys(&["enter"]);
            everywhere.extend(offered(&mut ui));
            ui.keys(&["esc"]);
        }
        ui.keys(&["tab"]);
    }
    let mut ui = Ui::new(SIZE);
    super::new_job::form(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::new_job_deck::deck(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::templates::form(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::engines::open(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::clusters::open(&mut ui);
    everywhere.extend(offered(&mut ui));
    ui.keys(&["a"]);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::queue::open(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::materials::open(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::materials::writing(&mut ui);
    everywhere.extend(offered(&mut ui));
    let mut ui = Ui::new(SIZE);
    super::workflows::open(&mut ui);
    everywhere.extend(offered(&mut ui));
    for info in Action::all() {
        assert!(
            everywhere.contains(&info.action),
            "{} is nowhere",
            info.name
        );
    }
}

#[test]
fn the_palette_runs_the_best_fit_and_remembers_it() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&[":"]);
    ui.type_text("help");
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("Help: type to filter"));
    ui.keys(&["esc", ":"]);
    let text = ui.picture(SIZE);
    let first = text
        .lines()
        .skip_while(|line| !line.contains("Command:"))
        .nth(2)
        .unwrap();
    assert!(first.contains("help"), "{first}");
}

#[test]
fn the_palette_goes_to_jobs_by_number_and_name() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&[":"]);
    ui.type_text("cancel 3");
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("Cancel job 3?"));
    ui.keys(&["esc", ":"]);
    ui.type_text("copper");
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("1 copper relax"));
}

#[test]
fn keys_can_be_given_to_other_actions() {
    let changes = [
        ("cancel".to_owned(), vec!["Y".to_owned(), "f9".to_owned()]),
        ("quit".to_owned(), vec!["ctrl-q".to_owned()]),
    ];
    let keymap = Keymap::with(&changes).unwrap();
    assert_eq!(keymap.action(Key::char('Y')), Some(Action::Cancel));
    assert_eq!(keymap.action(Key::char('c')), None);
    assert_eq!(keymap.main_key(Action::Quit), "Ctrl-q");
    let config = Config {
        keymap,
        ..Config::default()
    };
    let mut ui = Ui::with(config, SIZE);
    ui.connect(&some_jobs());
    let text = ui.picture(SIZE);
    assert!(
        text.contains("Y cancel"),
        "the footer shows the map in force: {text}"
    );
}

#[test]
fn wrong_changes_of_keys_are_all_reported() {
    let changes = [
        ("cancle".to_owned(), vec!["x".to_owned()]),
        (
            "rerun".to_owned(),
            vec!["ctrl-i".to_owned(), "hyper-x".to_owned()],
        ),
        ("sort".to_owned(), vec!["c".to_owned()]),
    ];
    let refused = Keymap::with(&changes).unwrap_err();
    let text: Vec<String> = refused
        .iter()
        .map(|one| format!("{}: {}", one.action, one.reason))
        .collect();
    let text = text.join("\n");
    for words in [
        "no action \"cancle\"",
        "terminals send tab",
        "no key \"hyper-x\"",
        "sort: c is already the key of cancel",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

/// The last line of the picture.
fn footer(ui: &Ui) -> String {
    ui.picture(SIZE).lines().last().unwrap().to_owned()
}

#[test]
fn the_footer_shows_what_is_of_use_here() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    let text = footer(&ui);
    assert!(text.contains("a new"), "{text}");
    assert!(text.contains("Enter open"), "{text}");
    // The newest one runs: it can be cancelled, and not be removed.
    assert!(text.contains("c cancel"), "{text}");
    assert!(!text.contains("d delete"), "{text}");
    ui.keys(&["G"]);
    let text = footer(&ui);
    assert!(!text.contains("c cancel"), "{text}");
    assert!(text.contains("d delete"), "{text}");
    ui.keys(&["enter"]);
    let text = footer(&ui);
    assert!(!text.contains("a new"), "{text}");
    assert!(text.contains("r rerun"), "{text}");
    let text = footer(&Ui::of(&[], SIZE));
    assert!(text.contains("a new"), "{text}");
    assert!(!text.contains("Enter open"), "{text}");
}

#[test]
fn names_of_the_wire_are_not_shown() {
    let mut ui = Ui::new(SIZE);
    ui.send(super::ready("one"));
    ui.answer("events.subscribe", Err(super::not_built()));
    let mut error = super::refused("database", "see `jobs.list`");
    if let crystalmath::error::IpcError::Rpc { data, .. } = &mut error {
        data["hint"] = "ask `codes.read_output`".into();
    }
    ui.answer("jobs.list", Err(error));
    let text = ui.picture(SIZE);
    assert!(text.contains("see `Jobs`"), "{text}");
    assert!(text.contains("ask `crystalmath read PATH`"), "{text}");
}
