//! How things look, by role: screens and widgets ask for a [`Role`] and for [`Glyphs`], never for a
//! colour or a character.
//!
//! Themes are tables from role to style. Five are built in, and users write their own in `ui.toml`.

mod built_in;
mod glyphs;
mod style;

use ratatui::style::{Color, Modifier, Style};

pub use built_in::{BUILT_IN, DEFAULT};
pub use glyphs::Glyphs;
pub use style::parse_style;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)+) => {
        /// What something is, for its looks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role { $($(#[$doc])* $variant,)+ }

        impl Role {
            /// Every role, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in a theme.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    Text "text",
    /// What is less important.
    Dim "dim",
    /// The name of a pane or of a thing.
    Title "title",
    /// The head of a table.
    Head "head",
    /// Lines between panes.
    Border "border",
    /// Lines of the pane that has the keys.
    BorderFocused "border-focused",
    /// The row with the cursor.
    Cursor "cursor",
    /// The row with the cursor in a pane without the keys.
    CursorAway "cursor-away",
    /// Rows that were selected.
    Selected "selected",
    /// The header and the footer.
    Bar "bar",
    /// The tab that is seen.
    TabActive "tab-active",
    /// A key in footer and help.
    Key "key",
    /// Text that is typed.
    Input "input",
    /// Where a search or a filter matched.
    Match "match",
    /// Ended well.
    Good "good",
    /// To know.
    Info "info",
    /// To look at.
    Warn "warn",
    /// Failed.
    Bad "bad",
    /// Runs.
    Running "running",
    /// Waits.
    Waiting "waiting",
    /// Was or is being cancelled.
    Cancelled "cancelled",
    /// Data that is no longer fresh.
    Stale "stale",
    /// The first curve of a plot.
    Plot1 "plot-1",
    /// The second.
    Plot2 "plot-2",
    /// The third.
    Plot3 "plot-3",
    /// Axes and ticks.
    Axis "axis",
}

impl Role {
    /// The role with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

/// A complete set of looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    name: String,
    styles: Vec<Style>,
    glyphs: Glyphs,
}

impl Theme {
    /// The built-in theme with this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        built_in::table(name).map(|rows| {
            let mut theme = Self {
                name: name.to_owned(),
                styles: vec![Style::new(); Role::ALL.len()],
                glyphs: Glyphs::UNICODE,
            };
            for (role, style) in rows {
                theme.styles[role as usize] = style;
            }
            theme
        })
    }

    /// This theme under another name, with other styles for some roles.
    #[must_use]
    pub fn extended(&self, name: &str, changes: &[(Role, Style)]) -> Self {
        let mut theme = self.clone();
        name.clone_into(&mut theme.name);
        for (role, style) in changes {
            theme.styles[*role as usize] = *style;
        }
        theme
    }

    /// The same without any colour: what colours said is said by bold, underlined and reversed.
    #[must_use]
    pub fn without_colour(mut self) -> Self {
        for style in &mut self.styles {
            // A background that set something off becomes reversed text.
            let set_off = style.bg.is_some_and(|bg| bg != Color::Reset);
            style.fg = None;
            style.bg = None;
            style.underline_color = None;
            if set_off {
                *style = style.add_modifier(Modifier::REVERSED);
            }
        }
        for role in [Role::Bar, Role::CursorAway] {
            self.styles[role as usize] = Style::new();
        }
        self.styles[Role::CursorAway as usize] = Style::new().add_modifier(Modifier::UNDERLINED);
        self.styles[Role::Selected as usize] = Style::new().add_modifier(Modifier::BOLD);
        self
    }

    /// The same with other glyphs.
    #[must_use]
    pub fn with_glyphs(mut self, glyphs: Glyphs) -> Self {
        self.glyphs = glyphs;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The characters that are not text.
    #[must_use]
    pub const fn glyphs(&self) -> &Glyphs {
        &self.glyphs
    }
}
