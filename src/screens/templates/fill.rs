//! A template that is filled in: its form, and what the daemon makes of it with every change.

use std::path::Path;

use serde_json::{Map, Value};

use super::Templates;
use crate::app::Client;
use crate::error::IpcError;
use crate::rpc::types::{RenderResult, RenderedFinding, Reply, TemplateRow};
use crate::screens::deck::{Deck, mark_at};
use crate::screens::form::Form;
use crate::screens::new_job::files::absolute;
use crate::screens::new_job::schema::{self, Kind};
use crate::screens::save::Save;
use crate::screens::{Cx, answers};
use crate::widgets::deck_text::Severity;

pub(super) const RENDER: &str = "templates.render";
/// The token of a list to choose a word from.
pub(super) const PICK: u32 = 1;
/// Before the names of fields in what the daemon refuses.
const BEFORE: &str = "parameters.";

/// What has the keys and, in a narrow window, what is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    /// The form.
    #[default]
    Form,
    /// What comes of it.
    Text,
}

/// The form of a template and what comes of it.
#[derive(Debug)]
pub(super) struct Filler {
    pub template: TemplateRow,
    pub form: Form,
    pub pane: Pane,
    /// Rises with every change.
    pub version: i64,
    /// The version that the result is of.
    pub rendered: i64,
    pub result: Option<RenderResult>,
    /// Which of its files is shown.
    pub file: usize,
    pub deck: Deck,
    /// The file as it is saved.
    pub save: Option<Save>,
}

impl Filler {
    pub(super) fn new(template: &TemplateRow) -> Self {
        Self {
            template: template.clone(),
            form: Form::of(schema::specs(&template.parameters)),
            pane: Pane::Form,
            version: 0,
            rendered: 0,
            result: None,
            file: 0,
            deck: Deck::default(),
            save: None,
        }
    }

    pub(super) fn takes_text(&self) -> bool {
        self.save.is_some() || self.form.is_written_in()
    }

    /// Whether what is shown is made of what is written.
    pub(super) const fn is_current(&self) -> bool {
        self.result.is_some() && self.rendered == self.version
    }

    /// What is written, as the daemon takes it, which has another current directory.
    fn parameters(&mut self, client: &Client) -> Option<Map<String, Value>> {
        let mut values = match self.form.values() {
            Ok(values) => values,
            Err(faults) => {
                self.form.faults = faults;
                return None;
            }
        };
        let whole = |path: &Value| {
            let path = absolute(path.as_str().unwrap_or_default(), client);
            Value::from(path.to_string_lossy().into_owned())
        };
        for spec in self.form.specs() {
            match (&spec.kind, values.get_mut(&spec.name)) {
                (Kind::Path, Some(value)) => *value = whole(value),
                (Kind::Structure, Some(value)) if value["path"].is_string() => {
                    value["path"] = whole(&value["path"]);
                }
                _ => {}
            }
        }
        Some(values)
    }

    /// Show this one of the files.
    pub(super) fn show(&mut self, file: usize) {
        let Some(result) = &self.result else { return };
        self.file = file.min(result.files.len().saturating_sub(1));
        let Some(shown) = result.files.get(self.file) else {
            return self.deck.clear();
        };
        let mine = |found: &&RenderedFinding| found.path == shown.path;
        let marks = result.findings.iter().filter(mine).map(|found| {
            let severity = match found.severity.as_str() {
                "warning" => Severity::Warning,
                _ => Severity::Error,
            };
            let place = (found.line, found.column);
            mark_at(place, severity, &found.code, &found.message, &found.hint)
        });
        let marks = marks.collect();
        let is_linted = self.template.lint.is_some();
        if is_linted {
            self.deck.show_found(&shown.content, marks);
        } else {
            self.deck.show_plain(&shown.content);
        }
    }

    /// What the daemon says of the whole, beside the marks.
    pub(super) fn warnings(&self) -> &[String] {
        self.result
            .as_ref()
            .map_or(&[][..], |result| &result.warnings)
    }

    /// Whether a warning repeats a finding of the linter.
    pub(super) fn is_mark(&self, warning: &str) -> bool {
        let mut found = self.result.iter().flat_map(|result| &result.findings);
        found.any(|one| warning.ends_with(&format!("line {}: {}", one.line, one.message)))
    }

    /// How many errors all files have.
    pub(super) fn errors(&self) -> usize {
        let found = self.result.iter().flat_map(|result| &result.findings);
        found
            .filter(|found| found.severity.as_str() != "warning")
            .count()
    }

    /// The name of the file that is shown.
    pub(super) fn file_name(&self) -> Option<&str> {
        let file = self.result.as_ref()?.files.get(self.file)?;
        let name = Path::new(&file.path).file_name()?;
        name.to_str()
    }
}

impl Templates {
    /// Something is written otherwise: let the daemon fill the template in anew.
    pub(super) fn changed(&mut self, cx: &mut Cx<'_>) {
        if let Some(filler) = &mut self.filler {
            filler.version += 1;
        }
        self.render(cx);
    }

    pub(super) fn render(&mut self, cx: &mut Cx<'_>) {
        let Some(filler) = &mut self.filler else {
            return;
        };
        cx.redraw();
        let Some(parameters) = filler.parameters(&cx.data().client) else {
            return;
        };
        let mut params = Map::new();
        params.insert("id".into(), filler.template.id.clone().into());
        params.insert("parameters".into(), parameters.into());
        params.insert("origin".into(), filler.template.origin.as_str().into());
        cx.data().client.put_context(&mut params);
        cx.ask(RENDER, filler.version, RENDER, params.into());
    }

    /// The daemon has filled in version `tag`.
    pub(super) fn rendered(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let Some(filler) = &mut self.filler else {
            return;
        };
        if tag != filler.version || answers::is_cut_off(result) {
            return;
        }
        cx.redraw();
        match answers::read::<Reply<RenderResult>>(RENDER, result) {
            Ok(reply) => {
                filler.form.faults.clear();
                filler.form.whole = None;
                filler.result = Some(reply.data);
                filler.rendered = tag;
                filler.show(filler.file);
            }
            Err(words) => match result {
                Err(error) => filler.form.refused(error, BEFORE),
                Ok(_) => filler.form.whole = Some(words),
            },
        }
    }

    /// What the template is filled in with, if the daemon has no objection that is known.
    pub(super) fn agreed(&mut self, cx: &Cx<'_>) -> Option<Map<String, Value>> {
        let filler = self.filler.as_mut()?;
        filler.is_current().then_some(())?;
        filler.parameters(&cx.data().client)
    }
}
