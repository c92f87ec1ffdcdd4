//! `ui.toml`: what it sets, and that everything wrong is told with its line.

use std::ffi::OsString;

use crystalmath::config::{Config, locale_is_unicode, parse, path};
use crystalmath::keymap::Key;
use crystalmath::msg::Action;
use crystalmath::theme::{BUILT_IN, Role, Theme};
use ratatui::style::Color;

#[test]
fn everything_can_be_set() {
    let text = r##"
theme = "mine"
ascii = true
mouse = false
notify = false
[jobs]
columns = ["id", "name", "energy"]
[keys]
cancel = "X"
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
    assert_eq!(config.keymap.action(Key::char('X')), Some(Action::Cancel));
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
        ("[jobs]\nsort = \"id\"", 2, "jobs.sort is not known"),
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
