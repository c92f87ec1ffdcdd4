//! Styles as text: `#ff8800 on black bold`, `default`, `light-blue underlined`.

use ratatui::style::{Color, Modifier, Style};

const NAMED: &[(&str, Color)] = &[
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("light-red", Color::LightRed),
    ("light-green", Color::LightGreen),
    ("light-yellow", Color::LightYellow),
    ("light-blue", Color::LightBlue),
    ("light-magenta", Color::LightMagenta),
    ("light-cyan", Color::LightCyan),
    ("white", Color::White),
];

const MODIFIERS: &[(&str, Modifier)] = &[
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
];

/// Read a style.
///
/// # Errors
/// A word that is neither a colour nor a way to write.
pub fn parse_style(text: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut background = false;
    for word in text.split_whitespace() {
        if word == "on" {
            background = true;
        } else if let Some((_, modifier)) = MODIFIERS.iter().find(|(name, _)| *name == word) {
            style = style.add_modifier(*modifier);
        } else {
            let colour = parse_colour(word).ok_or_else(|| {
                format!(
                    "{word:?} is no colour: use #rrggbb, 0-255, or a name such as red, light-blue, \
                     default"
                )
            })?;
            style = if background {
                style.bg(colour)
            } else {
                style.fg(colour)
            };
            background = false;
        }
    }
    if background {
        return Err("a colour is missing after \"on\"".into());
    }
    Ok(style)
}

fn parse_colour(word: &str) -> Option<Color> {
    if let Some((_, colour)) = NAMED.iter().find(|(name, _)| *name == word) {
        return Some(*colour);
    }
    if let Some(digits) = word.strip_prefix('#') {
        let number = u32::from_str_radix(digits, 16).ok()?;
        let [_, red, green, blue] = number.to_be_bytes();
        return (digits.len() == 6).then_some(Color::Rgb(red, green, blue));
    }
    word.parse().ok().map(Color::Indexed)
}
