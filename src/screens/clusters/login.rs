//! Logging in to a cluster: a dialogue with the host, whose secret answers are not shown.

use std::fmt;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::Clusters;
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Edit, Tone};
use crate::rpc::types::{LoginPrompt, LoginResult, Reply};
use crate::screens::{Cx, ViewCx, answers};
use crate::theme::Role;
use crate::widgets::input::TextLine;
use crate::widgets::{dialog, text};

pub(super) const LOGIN: &str = "clusters.login";
/// The slot of a dialogue that is given up, whose answer tells nothing.
pub(super) const GIVEN_UP: &str = "clusters.login.given_up";

/// A login under way.
#[derive(Debug)]
pub(super) struct Login {
    cluster: i64,
    name: String,
    dialogue: String,
    /// What is asked now; nothing while the host is waited for.
    prompts: Vec<LoginPrompt>,
    answers: Secret<Vec<String>>,
    input: Secret<TextLine>,
}

/// What must not be printed, not even for a developer.
#[derive(Default)]
struct Secret<T>(T);

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Login {
    fn asked(&self) -> Option<&LoginPrompt> {
        self.prompts.get(self.answers.0.len())
    }

    fn ask_next(&mut self, said: LoginResult) {
        self.dialogue = said.dialogue.unwrap_or_default();
        self.prompts = said.prompts;
        self.answers.0.clear();
        self.input.0.clear();
    }
}

impl Clusters {
    pub(super) fn log_in(&mut self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.current() else {
            return;
        };
        let (id, name) = (cluster.id, cluster.name.clone());
        cx.send(LOGIN, id, LOGIN, json!({"id": id}));
        self.login = Some(Login {
            cluster: id,
            name,
            dialogue: String::new(),
            prompts: Vec::new(),
            answers: Secret::default(),
            input: Secret::default(),
        });
    }

    /// What the host says: another question, or that it lets in, or not.
    pub(super) fn login_said(
        &mut self,
        id: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        cx.redraw();
        let ours = self.login.as_mut().filter(|login| login.cluster == id);
        let reply = answers::read::<Reply<LoginResult>>(LOGIN, result);
        match (reply, ours) {
            (Ok(reply), Some(login)) if !reply.data.done => login.ask_next(reply.data),
            // It was given up before the host asked.
            (Ok(reply), None) if !reply.data.done => {
                let params = json!({"id": id, "dialogue": reply.data.dialogue, "give_up": true});
                cx.send(GIVEN_UP, id, LOGIN, params);
            }
            (Ok(_), ours) => {
                let name = ours.map_or_else(String::new, |login| login.name.clone());
                self.login = None;
                cx.toast(Tone::Good, format!("logged in to {name}"));
                self.try_it(id, cx);
            }
            (Err(_), ours) => {
                let was_ours = ours.is_some();
                if was_ours {
                    self.login = None;
                }
                if let (true, Err(error)) = (was_ours, result) {
                    cx.toast(Tone::Bad, format!("not logged in: {}", error_text(error)));
                }
                self.read(cx);
            }
        }
    }

    /// A key while the dialogue is open.
    pub(super) fn login_edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let Some(login) = &mut self.login else {
            return;
        };
        cx.redraw();
        match edit {
            Edit::Cancel => {
                let (id, dialogue) = (login.cluster, login.dialogue.clone());
                self.login = None;
                if !dialogue.is_empty() {
                    let params = json!({"id": id, "dialogue": dialogue, "give_up": true});
                    cx.send(GIVEN_UP, id, LOGIN, params);
                }
                cx.toast(Tone::Info, "the login was given up");
            }
            _ if login.asked().is_none() => {}
            Edit::Submit => {
                let typed = std::mem::take(&mut login.input.0);
                login.answers.0.push(typed.text().to_owned());
                if login.asked().is_none() {
                    let params = json!({
                        "id": login.cluster, "dialogue": login.dialogue,
                        "answers": std::mem::take(&mut login.answers.0),
                    });
                    login.prompts.clear();
                    cx.send(LOGIN, login.cluster, LOGIN, params);
                }
            }
            edit => {
                login.input.0.apply(edit);
            }
        }
    }
}

pub(super) fn draw(login: &Login, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let columns = area.width.saturating_sub(8).min(64);
    let asked = login.asked();
    let words = match asked {
        Some(prompt) => prompt.text.trim_end().to_owned(),
        None => format!("{} waiting for the host", theme.glyphs().running),
    };
    let mut lines = text::wrap(&words, usize::from(columns));
    lines.truncate(usize::from(area.height.saturating_sub(5)).max(1));
    let rows = u16::try_from(lines.len()).unwrap_or(1);
    let title = format!("Log in to {}", login.name);
    let inside = dialog::open(area, (columns, rows + 2), &title, buf, theme);
    let role = if asked.is_some() {
        Role::Text
    } else {
        Role::Running
    };
    for (line, y) in lines.iter().zip(inside.top()..inside.bottom()) {
        text::put(buf, (inside.x, y), line, inside.width, theme.style(role));
    }
    if let Some(prompt) = asked {
        let place = Rect::new(inside.x, inside.y + rows, inside.width, 1);
        let input = &login.input.0;
        let place = if prompt.echo {
            input.draw(place, buf, theme)
        } else {
            masked(input).draw(place, buf, theme)
        };
        if cx.focused {
            cx.cursor.set(place);
        }
    }
    let words = if asked.is_some() {
        "Enter answers, Esc gives up. Nothing of it is stored."
    } else {
        "Esc gives up."
    };
    let below = inside.y + rows + 1;
    if below < inside.bottom() {
        let dim = theme.style(Role::Dim);
        text::put(buf, (inside.x, below), words, inside.width, dim);
    }
}

/// A star for each character.
fn masked(input: &TextLine) -> TextLine {
    TextLine::of(&"*".repeat(input.text().chars().count()))
}
