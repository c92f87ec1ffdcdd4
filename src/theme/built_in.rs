//! The themes that are always there.
//!
//! `colour-blind` keeps to the palette of Okabe and Ito (2008), whose colours stay apart in the
//! common forms of colour blindness. `16-colours` uses only what the terminal's own palette has.

use ratatui::style::Style;

use super::{Role, parse_style};

/// Their names, in the order of the theme picker.
pub const BUILT_IN: &[&str] = &[
    "dark",
    "light",
    "high-contrast",
    "colour-blind",
    "16-colours",
];

/// The theme that is used when nothing else is said.
pub const DEFAULT: &str = "dark";

/// One row per role: dark, light, high contrast, colour-blind safe, 16 colours.
#[rustfmt::skip]
const ROWS: &[(Role, [&str; 5])] = &[
    (Role::Text, ["default", "default", "white on black", "default", "default"]),
    (Role::Dim, ["#8a8f98", "#6a6f78", "#d0d0d0 on black", "#9a9fa8", "dark-gray"]),
    (Role::Title, ["#e6e6e6 bold", "#1a1a1a bold", "white on black bold", "default bold", "default bold"]),
    (Role::Head, ["#9fb4cc bold", "#33506e bold", "white on black bold underlined", "#9fb4cc bold", "cyan bold"]),
    (Role::Border, ["#4a5058", "#b4b9c0", "white on black", "#5a6068", "dark-gray"]),
    (Role::BorderFocused, ["#7aa2d8", "#2a62a8", "#ffff00 on black bold", "#56b4e9", "cyan"]),
    (Role::Cursor, ["#ffffff on #2d4f7c bold", "#000000 on #bcd6f5 bold", "black on #ffff00 bold", "#ffffff on #005a8c bold", "white on blue bold"]),
    (Role::CursorAway, ["default on #2c3036", "default on #e2e5ea", "white on #444444", "default on #2c3036", "default underlined"]),
    (Role::Selected, ["#ffd479 bold", "#8a5a00 bold", "#ffff00 on black bold", "#f0e442 bold", "yellow bold"]),
    (Role::Bar, ["#c5cad2 on #20242a", "#20242a on #e6e9ee", "white on black", "#c5cad2 on #20242a", "default"]),
    (Role::TabActive, ["#ffffff on #2d4f7c bold", "#ffffff on #2a62a8 bold", "black on white bold", "#ffffff on #005a8c bold", "white on blue bold"]),
    (Role::Key, ["#ffd479 on #20242a bold", "#8a5a00 on #e6e9ee bold", "#ffff00 on black bold", "#f0e442 on #20242a bold", "yellow bold"]),
    (Role::Input, ["#ffffff on #33383f", "#000000 on #dfe4ea", "black on white", "#ffffff on #33383f", "default underlined"]),
    (Role::Match, ["#000000 on #ffd479", "#000000 on #ffe08a", "black on #ffff00", "#000000 on #f0e442", "black on yellow"]),
    (Role::Good, ["#7fc97f", "#1e7a34", "#00ff00 on black", "#56b4e9", "green"]),
    (Role::Info, ["#8ab4f8", "#1a5fb4", "#00ffff on black", "#56b4e9", "cyan"]),
    (Role::Warn, ["#f0b860", "#9a5b00", "#ffff00 on black bold", "#e69f00", "yellow"]),
    (Role::Bad, ["#f28b82 bold", "#b3261e bold", "#ff6060 on black bold", "#d55e00 bold", "light-red bold"]),
    (Role::Running, ["#6cc3f0", "#0b62a8", "#00ffff on black bold", "#0072b2 bold", "cyan"]),
    (Role::Waiting, ["#b0b6be", "#5a6068", "white on black", "#b0b6be", "default"]),
    (Role::Cancelled, ["#c9a3d8", "#7a3f94", "#ff80ff on black", "#cc79a7", "magenta"]),
    (Role::Stale, ["#7a7f87 italic", "#8a8f97 italic", "#b0b0b0 on black italic", "#8a8f97 italic", "dark-gray"]),
    (Role::Plot1, ["#6cc3f0", "#0b62a8", "#00ffff on black", "#56b4e9", "cyan"]),
    (Role::Plot2, ["#f0b860", "#9a5b00", "#ffff00 on black", "#e69f00", "yellow"]),
    (Role::Plot3, ["#c9a3d8", "#7a3f94", "#ff80ff on black", "#cc79a7", "magenta"]),
    (Role::Axis, ["#8a8f98", "#6a6f78", "white on black", "#9a9fa8", "dark-gray"]),
];

/// The rows of a theme; a test reads every style.
pub(super) fn table(name: &str) -> Option<Vec<(Role, Style)>> {
    let column = BUILT_IN.iter().position(|known| *known == name)?;
    let style = |text: &str| parse_style(text).unwrap_or_default();
    Some(
        ROWS.iter()
            .map(|(role, texts)| (*role, style(texts[column])))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_a_readable_style_in_every_theme() {
        let named: Vec<Role> = ROWS.iter().map(|(role, _)| *role).collect();
        assert_eq!(named, Role::ALL);
        for (role, texts) in ROWS {
            for text in texts {
                assert!(parse_style(text).is_ok(), "{}: {text}", role.name());
            }
        }
    }
}
