//! A CRYSTAL deck for a structure: the options as a form, and the deck that they give with what the
//! linter says of it, written anew with every change.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value, json};

use crate::error::IpcError;
use crate::msg::{Action, Edit, Link, Tone, Unwritten};
use crate::rpc::types::{D12Report, D12Result, Reply};
use crate::screens::deck::Deck;
use crate::screens::form::{Around, Done, Form};
use crate::screens::new_job::schema;
use crate::screens::save::{self, Save};
use crate::screens::wording::speak;
use crate::screens::{Cx, Handled, ViewCx, answers};
use crate::theme::Role;
use crate::widgets::text;

const METHOD: &str = "materials.generate_d12";
const DISCOVER: &str = "rpc.discover";
/// The token of a list to choose from.
const PICK: u32 = 1;
/// From this width on form and deck stand side by side.
const WIDE: u16 = 100;

/// The form and the deck. The options stay for the next structure.
#[derive(Debug, Default)]
pub struct Writer {
    /// The structure, by what the daemon calls it and by its formula.
    structure: Option<(String, String)>,
    form: Form,
    /// Why the options are not known.
    unknown: Option<String>,
    /// Rises with every change; tells which answer is about what is written now.
    version: i64,
    /// The version that deck and faults are about.
    answered: i64,
    made: Option<D12Result>,
    deck: Deck,
    /// The deck has the keys; in a narrow window only then it is seen.
    on_deck: bool,
    save: Option<Save>,
    /// The geometry file that goes beside the deck that is being written.
    beside: Option<String>,
}

impl Writer {
    /// Whether a deck is being written.
    pub const fn is_open(&self) -> bool {
        self.structure.is_some()
    }

    /// The line over the pane, while it is open.
    pub fn title(&self) -> Option<String> {
        let (material, formula) = self.structure.as_ref()?;
        Some(format!("Deck of {formula} {material}"))
    }

    /// Whether keys are text now.
    pub fn takes_text(&self) -> bool {
        self.save.is_some() || (self.is_open() && self.form.is_written_in())
    }

    /// Begin with a structure.
    pub fn open(&mut self, material: &str, formula: &str, cx: &mut Cx<'_>) {
        self.structure = Some((material.to_owned(), formula.to_owned()));
        self.deck.clear();
        self.made = None;
        self.on_deck = false;
        if self.form.is_empty() {
            cx.ask(DISCOVER, 0, DISCOVER, json!({}));
        }
        self.write(cx);
    }

    /// The connection is there again: ask what was not answered.
    pub fn ask_again(&mut self, cx: &mut Cx<'_>) {
        if self.is_open() && (self.answered != self.version || self.form.is_empty()) {
            if self.form.is_empty() {
                cx.ask(DISCOVER, 0, DISCOVER, json!({}));
            }
            self.write(cx);
        }
        if self.is_open() {
            self.deck.ask_again(cx);
        }
    }

    /// Have the deck written anew.
    fn write(&mut self, cx: &mut Cx<'_>) {
        let Some((material, _)) = &self.structure else {
            return;
        };
        self.version += 1;
        match self.form.values() {
            Ok(options) => {
                let mut params = json!({"structure": {"material": material}});
                if !options.is_empty() {
                    params["options"] = options.into();
                }
                cx.ask(METHOD, self.version, METHOD, params);
            }
            Err(faults) => {
                self.form.faults = faults;
                self.form.whole = None;
                self.answered = self.version;
                self.made = None;
            }
        }
        cx.redraw();
    }

    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        match slot {
            DISCOVER => self.take_options(result, cx),
            METHOD if tag == self.version => self.take_deck(result, cx),
            slot => {
                self.deck.reply(slot, tag, result, cx);
            }
        }
    }

    /// What can be set.
    fn take_options(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        let document = match result {
            Ok(document) => document,
            Err(error) => {
                self.unknown = Some(crate::app::error_text(error));
                return;
            }
        };
        let found = schema::of_method(document, METHOD, "options");
        self.unknown = match found {
            // A newer daemon may call it otherwise.
            None => Some("this daemon does not tell what can be set".into()),
            Some(_) => None,
        };
        if let Some(found) = found {
            self.form = Form::of(schema::specs_of_parts(&found, &|_| true));
        }
    }

    fn take_deck(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) {
            return;
        }
        self.answered = self.version;
        self.form.faults.clear();
        self.form.whole = None;
        match answers::read::<Reply<D12Result>>(METHOD, result) {
            Ok(reply) => {
                self.deck.show(&reply.data.d12, "crystal", cx);
                self.made = Some(reply.data);
            }
            Err(error) => {
                self.made = None;
                match result {
                    Err(refused) => self.form.refused(refused, "options."),
                    Ok(_) => self.form.whole = Some(speak(&error)),
                }
            }
        }
    }

    /// Whether the deck is that of what is written in the form.
    fn is_current(&self) -> bool {
        self.made.is_some() && self.answered == self.version
    }

    /// The options, if the deck that is seen is made of them; else it is said why not.
    pub fn options_to_submit(&mut self, cx: &mut Cx<'_>) -> Option<Map<String, Value>> {
        let words = if self.is_current() && self.deck.errors() == 0 {
            return self.form.values().ok();
        } else if self.is_current() {
            "the linter finds errors in the deck"
        } else if self.answered == self.version {
            self.form.go_to_fault();
            "there is no deck: something is wrong with the form"
        } else {
            "the deck is still being written"
        };
        cx.toast(Tone::Warn, words);
        cx.redraw();
        None
    }

    pub fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        cx.redraw();
        match action {
            Action::Preview => self.on_deck ^= true,
            Action::Save => self.ask_where(cx),
            Action::Back if self.on_deck => self.on_deck = false,
            Action::Back => self.structure = None,
            action if self.on_deck => {
                let (_, deck) = self.areas(cx.area());
                let (_, text) = self.parts(deck);
                return self.deck.act(action, text);
            }
            Action::FindNext | Action::FindPrevious => {
                self.on_deck = true;
                let (_, deck) = self.areas(cx.area());
                let (_, text) = self.parts(deck);
                self.deck.act(action, text);
            }
            action => {
                let done = self.form.act(action, PICK, cx);
                return self.done(done, cx);
            }
        }
        Handled::Yes
    }

    /// What came of a key in the form.
    fn done(&mut self, done: Done, cx: &mut Cx<'_>) -> Handled {
        match done {
            Done::No => return Handled::No,
            Done::Moved => {}
            Done::Changed => self.write(cx),
            Done::Pressed => cx.act(Action::Submit),
        }
        Handled::Yes
    }

    pub fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        if self.save.is_some() {
            save::edit(&mut self.save, edit, cx);
            return;
        }
        let done = self.form.edit(edit);
        self.done(done, cx);
        cx.redraw();
    }

    pub fn picked(&mut self, names: &[String], cx: &mut Cx<'_>) {
        let done = self.form.picked(names);
        self.done(done, cx);
        cx.redraw();
    }

    pub fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        let area = cx.area();
        let (form, _) = self.areas(area);
        self.on_deck = form.width == 0 || at.0 >= form.width;
        if !self.on_deck {
            let done = self.form.click(form, at.1, PICK, cx);
            self.done(done, cx);
        }
    }

    /// Ask where the deck goes.
    fn ask_where(&mut self, cx: &mut Cx<'_>) {
        let Some(made) = self.made.as_ref().filter(|_| self.is_current()) else {
            cx.toast(Tone::Warn, "there is no deck to write");
            return;
        };
        let formula = self
            .structure
            .as_ref()
            .map_or("deck", |(_, formula)| formula);
        self.beside.clone_from(&made.gui);
        self.save = Some(Save::new(
            "Write the deck to",
            &format!("{formula}.d12"),
            &made.d12,
        ));
    }

    pub fn written(&mut self, result: &Result<(), Unwritten>, cx: &mut Cx<'_>) {
        let Some(path) = save::written(&mut self.save, result, cx) else {
            return;
        };
        // A deck that takes its geometry from a file is two files.
        if let Some(gui) = self.beside.take() {
            let name = Path::new(&path).with_extension("gui");
            let name = name.to_string_lossy();
            self.save = Some(Save::new("Write its geometry to", &name, &gui));
        }
    }

    pub fn answered(&mut self, yes: bool, cx: &mut Cx<'_>) {
        save::answered(&mut self.save, yes, cx);
    }

    /// The form and the deck; the one that is not seen is empty.
    const fn areas(&self, area: Rect) -> (Rect, Rect) {
        if area.width < WIDE {
            return if self.on_deck {
                (Rect::ZERO, area)
            } else {
                (area, Rect::ZERO)
            };
        }
        let left = area.width / 2;
        let form = Rect {
            width: left,
            ..area
        };
        let deck = Rect {
            x: area.x + left + 1,
            width: area.width - left - 1,
            ..area
        };
        (form, deck)
    }

    /// What the deck holds, and the deck.
    fn parts(&self, area: Rect) -> (Rect, Rect) {
        let lines = self.report_lines(usize::from(area.width.saturating_sub(2)));
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let rows = rows.min(area.height / 3);
        let report = Rect {
            height: rows,
            ..area
        };
        let text = Rect {
            y: area.y + rows,
            height: area.height - rows,
            ..area
        };
        (report, text)
    }

    fn report_lines(&self, room: usize) -> Vec<(String, Role)> {
        let Some(made) = &self.made else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let mut add = |words: &str, role: Role| {
            let wrapped = text::wrap(words, room.max(1));
            lines.extend(wrapped.into_iter().map(|line| (line, role)));
        };
        add(&report_words(&made.report), Role::Text);
        for warning in &made.report.warnings {
            add(&format!("! {}", speak(warning)), Role::Warn);
        }
        lines
    }

    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let (form, deck) = self.areas(area);
        let around = Around {
            state: self.state(cx),
            button: "Submit",
            button_help: "A new job with this structure and these options.",
        };
        if form.width > 0 {
            let focused = ViewCx {
                focused: cx.focused && !self.on_deck && self.save.is_none(),
                ..*cx
            };
            self.form.draw(&around, form, buf, &focused);
        }
        if deck.width > 0 {
            self.draw_deck(form.width > 0, deck, buf, cx);
        }
        if let Some(save) = &self.save {
            save::draw(save, area, buf, cx);
        }
    }

    fn draw_deck(&self, beside: bool, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        if beside {
            for y in area.top()..area.bottom() {
                let bar = theme.glyphs().vertical;
                text::put(buf, (area.x - 1, y), bar, 1, theme.style(Role::Border));
            }
        }
        let stale = !self.is_current();
        if self.deck.is_empty() {
            let (words, role) = self.state(cx);
            let room = area.width.saturating_sub(2);
            let lines = text::wrap(&words, usize::from(room));
            for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
                text::put(buf, (area.x + 1, y), line, room, theme.style(role));
            }
            return;
        }
        let (report, text_area) = self.parts(area);
        let room = report.width.saturating_sub(2);
        let lines = self.report_lines(usize::from(room));
        for ((line, role), y) in lines.iter().zip(report.top()..report.bottom()) {
            let role = if stale { Role::Stale } else { *role };
            text::put(buf, (report.x + 1, y), line, room, theme.style(role));
        }
        self.deck.draw("deck", text_area, buf, cx, stale);
    }

    /// How it stands with the whole.
    fn state(&self, cx: &ViewCx<'_>) -> (String, Role) {
        let glyphs = cx.theme.glyphs();
        let key = |action| cx.keymap.main_key(action);
        if let Some(trouble) = self.form.trouble(glyphs) {
            return trouble;
        }
        if !matches!(cx.data.link, Link::Ready(_)) {
            return (
                format!("{} no daemon to write it", glyphs.attention),
                Role::Warn,
            );
        }
        if let Some(why) = &self.unknown {
            return (format!("{} {why}", glyphs.attention), Role::Bad);
        }
        if self.is_current() {
            let words = format!(
                "{} read back and compared: {} submits, {} saves, {} to the deck",
                glyphs.completed,
                key(Action::Submit),
                key(Action::Save),
                key(Action::Preview)
            );
            return (words, Role::Good);
        }
        ("writing the deck".into(), Role::Dim)
    }
}

/// What the deck holds, in a sentence.
fn report_words(report: &D12Report) -> String {
    let group = report
        .space_group
        .as_ref()
        .map_or_else(String::new, |group| {
            let symbol = group.get("symbol").and_then(Value::as_str).unwrap_or("?");
            let number = group.get("number").and_then(Value::as_i64);
            let number = number.map_or_else(String::new, |number| format!(" ({number})"));
            format!(" {symbol}{number}")
        });
    let mesh = report.shrink.as_ref().map_or_else(String::new, |mesh| {
        let numbers: Vec<String> = mesh.iter().map(ToString::to_string).collect();
        match numbers.split_last() {
            Some((isp, mesh)) => format!(", mesh {}, ISP {isp}", mesh.join(" ")),
            None => String::new(),
        }
    });
    format!(
        "{}{group}, {} of {} atoms listed, basis {}{mesh}; at {} Å an atom moved by up to {:.5} Å",
        report.dimension,
        report.n_asymmetric,
        report.n_atoms,
        report.basis,
        report.symprec_angstrom,
        report.max_displacement
    )
}
