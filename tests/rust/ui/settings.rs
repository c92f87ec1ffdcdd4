//! `ui.toml`: what it sets, and that everything wrong is told with its line.

use std::ffi::OsString;

use crystalmath::config::{
    Config, Named, Remembered, SortBy, locale_is_unicode, parse, path, state_path,
};
use crystalmath::keymap::Key;
use crystalmath::msg::{Action, Effect};
use crystalmath::theme::{BUILT_IN, Role, Theme};
use ratatui::style::Color;

use super::{Ui, some_jobs};

#[test]
fn everything_can_be_set() {
    let text = r##"
theme = "mine"
ascii = true
mouse = false
notify = false
[jobs]
columns = ["id", "name", "energy"]
sort = "-energy"
[keys]
cancel = "Y"
rerun = ["f6", "f5"]
[themes.mine]
extends = "base"
good = "#00ff00 on black bold"
[themes.base]
extends = "light"
bad = "208"
"##;
    let config = parse(text).unwrap();
    assert!(config.ascii && !config.mouse && !config.notify);
    assert_eq!(config.job_columns, ["id", "name", "energy"]);
    assert_eq!(config.job_sort, Some(SortBy::parse("-energy")));
    assert!(config.named.theme && config.named.job_columns && config.named.job_sort);
    assert_eq!(config.keymap.action(Key::char('Y')), Some(Action::Cancel));
    let theme = config.theme("mine");
    assert_eq!(theme.style(Role::Good).fg, Some(Color::Rgb(0, 255, 0)));
    assert_eq!(theme.style(Role::Bad).fg, Some(Color::Indexed(208)));
    let light = Theme::built_in("light").unwrap();
    assert_eq!(theme.style(Role::Info), light.style(Role::Info));
    assert!(theme.glyphs().ascii);
    assert_eq!(parse("").unwrap(), Config::default());
}

#[test]
fn everything_wrong_is_told_with_its_line() {
    for (text, line, words) in [
        ("theme = \"dark", 1, ""),
        ("\ntheem = \"dark\"", 2, "\"theem\" is not known"),
        (
            "theme = \"pink\"",
            1,
            "there is no theme \"pink\"; there are dark, light",
        ),
        ("mouse = 1", 1, "true or false is wanted"),
        (
            "[keys]\nquit = \"q\"\ncancle = \"x\"",
            3,
            "keys.cancle: there is no action",
        ),
        ("[keys]\nrerun = \"ctrl-m\"", 2, "terminals send enter"),
        ("[keys]\nrerun = \"c\"", 2, "already the key of cancel"),
        (
            "[jobs]\ncolumns = [\"id\", \"colour\"]",
            2,
            "there is no column \"colour\"",
        ),
        ("[jobs]\nsort = \"-colour\"", 2, "no column \"colour\""),
        ("[jobs]\norder = \"id\"", 2, "jobs.order is not known"),
        ("[themes.a]\ngod = \"red\"", 2, "there is no role \"god\""),
        ("[themes.a]\ngood = \"rde\"", 2, "\"rde\" is no colour"),
        (
            "[themes.a]\nextends = \"b\"\n[themes.b]\nextends = \"a\"",
            1,
            "leads to no built-in theme",
        ),
    ] {
        let problems = parse(text).unwrap_err();
        assert_eq!(problems[0].line, line, "{text}: {problems:?}");
        assert!(problems[0].what.contains(words), "{text}: {problems:?}");
    }
    let several = parse("a = 1\nb = 2").unwrap_err();
    assert_eq!(several.len(), 2);
}

#[test]
fn every_theme_has_every_role_and_none_keeps_a_colour_when_there_are_none() {
    for name in BUILT_IN {
        let theme = Theme::built_in(name).unwrap().without_colour();
        for role in Role::ALL {
            let style = theme.style(*role);
            assert!(
                style.fg.is_none() && style.bg.is_none(),
                "{name} {}",
                role.name()
            );
        }
        assert_ne!(theme.style(Role::Cursor), theme.style(Role::Text));
        assert_ne!(theme.style(Role::TabActive), theme.style(Role::Bar));
    }
}

#[test]
fn the_environment_says_where_and_whether_unicode() {
    let of = |pairs: &'static [(&'static str, &'static str)]| {
        move |name: &str| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        }
    };
    let found = path(of(&[("XDG_CONFIG_HOME", "/c"), ("HOME", "/h")])).unwrap();
    assert_eq!(found.to_str(), Some("/c/crystalmath/ui.toml"));
    let found = path(of(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")])).unwrap();
    assert_eq!(found.to_str(), Some("/h/.config/crystalmath/ui.toml"));
    assert_eq!(path(of(&[])), None);
    assert!(locale_is_unicode(of(&[("LANG", "de_DE.UTF-8")])));
    assert!(!locale_is_unicode(of(&[
        ("LC_ALL", "C"),
        ("LANG", "de_DE.UTF-8")
    ])));
    assert!(!locale_is_unicode(of(&[])));
}

/// The text that would be kept last.
fn kept(ui: &Ui) -> Option<Remembered> {
    ui.effects.iter().rev().find_map(|effect| match effect {
        Effect::Keep(text) => Some(Remembered::parse(text).unwrap()),
        _ => None,
    })
}

const SIZE: (u16, u16) = (100, 30);

#[test]
fn what_is_chosen_is_kept_and_comes_back() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    assert_eq!(kept(&ui), None);
    ui.keys(&["s", "S"]);
    // The theme is seen while it is looked for, and kept when it is taken.
    ui.keys(&["T", "j", "esc"]);
    assert_eq!(kept(&ui).unwrap().theme, None);
    ui.keys(&["T", "j", "enter", "C", "space", "enter"]);
    let kept = kept(&ui).unwrap();
    assert_eq!(kept.theme.as_deref(), Some("light"));
    assert_eq!(kept.job_sort, Some(SortBy::parse("-name")));
    let columns = kept.job_columns.clone().unwrap();
    assert_eq!(columns[..2], ["id", "name"]);

    let mut config = Config::default();
    config.take_remembered(kept);
    assert_eq!(config.theme, "light");
    let mut ui = Ui::with(config, SIZE);
    ui.connect(&some_jobs());
    let text = ui.picture(SIZE);
    assert!(
        text.contains("Name\u{25bc}") && !text.contains("State"),
        "{text}"
    );
    // What was chosen before stays beside what is chosen now.
    ui.keys(&["S"]);
    let again = super::settings::kept(&ui).unwrap();
    assert_eq!(again.job_sort, Some(SortBy::parse("name")));
    assert_eq!(again.job_columns, Some(columns));
}

#[test]
fn the_file_of_the_user_wins_for_what_it_names() {
    let mut config = Config {
        theme: "high-contrast".into(),
        named: Named {
            theme: true,
            ..Named::default()
        },
        ..Config::default()
    };
    config.take_remembered(Remembered {
        theme: Some("light".into()),
        job_sort: Some(SortBy::parse("-time")),
        ..Remembered::default()
    });
    assert_eq!(config.theme, "high-contrast");
    assert_eq!(config.job_sort, Some(SortBy::parse("-time")));
    let mut ui = Ui::with(config, SIZE);
    ui.connect(&some_jobs());
    ui.keys(&["T", "j", "enter"]);
    assert_eq!(kept(&ui), None);
    assert!(
        ui.picture(SIZE)
            .contains("until you leave: ui.toml sets theme")
    );
}

#[test]
fn a_damaged_or_older_file_is_no_failure() {
    assert!(Remembered::parse("theme = ").is_err());
    assert!(Remembered::parse("theme = 3").is_err());
    let newer = "theme = \"dark\"\nshape = 3\n[jobs]\nzoom = true\nsort = \"nothing\"\n";
    let remembered = Remembered::parse(newer).unwrap();
    let mut config = Config::default();
    config.take_remembered(remembered);
    let mut ui = Ui::with(config, SIZE);
    ui.connect(&some_jobs());
    assert!(ui.picture(SIZE).contains("Id\u{25bc}"));

    let mut config = Config::default();
    config.take_remembered(Remembered {
        theme: Some("my own".into()),
        job_columns: Some(vec!["gone".into()]),
        ..Remembered::default()
    });
    let mut ui = Ui::with(config, SIZE);
    ui.connect(&some_jobs());
    let text = ui.picture(SIZE);
    assert!(
        text.contains("there is no theme \"my own\" any more"),
        "{text}"
    );
    assert!(text.contains("Progress"), "{text}");
}

#[test]
fn every_text_can_be_kept() {
    let remembered = Remembered {
        theme: Some("a \"quoted\" \\ name\twith \u{1b} 晶".into()),
        job_columns: Some(vec!["id".into(), "time".into()]),
        job_sort: Some(SortBy::parse("-time")),
    };
    assert_eq!(Remembered::parse(&remembered.render()), Ok(remembered));
    let nothing = Remembered::default();
    assert_eq!(Remembered::parse(&nothing.render()), Ok(nothing));
    assert_eq!(Remembered::parse(""), Ok(Remembered::default()));
    let home = |name: &str| (name == "HOME").then(|| OsString::from("/h"));
    let path = state_path(home).unwrap();
    assert_eq!(
        path.to_str(),
        Some("/h/.local/state/crystalmath/ui-state.toml")
    );
}
