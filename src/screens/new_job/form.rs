//! The form of a new job: its fields, what is written in them, and the submission they make.
//!
//! Pure: it asks nobody. What the daemon says of it is put in from outside.

mod fields;
mod options;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::files::absolute;
use super::schema::{self, Kind, Spec};
use crate::app::Client;
use crate::rpc::types::{ClusterView, CodeInfo};
use crate::screens::answers;
use crate::submission::{self, Source};
use crate::widgets::input::TextLine;

/// Names of the fields that every job has; they are those of the wire.
pub const CODE: &str = "code";
/// What the code does.
pub const TASK: &str = "task";
/// The force engine.
pub const ENGINE: &str = "engine";
/// The cluster that it runs on; empty for this machine.
pub const CLUSTER: &str = "cluster";
/// Further files.
pub const FILES: &str = "files";
/// The job's name.
pub const NAME: &str = "name";
/// The input that a code reads, among the files.
pub const DECK: &str = "inputs.deck";
/// The chosen file; it stands for `structure` too.
pub const FILE: &str = "file";

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name on the wire, like `inputs.max_steps`.
    pub key: String,
    /// Heading under which it stands.
    pub section: &'static str,
    /// What it is and takes.
    pub spec: Spec,
    /// What is written.
    pub input: TextLine,
}

impl Field {
    /// How many parts it stands in.
    #[must_use]
    pub fn depth(&self) -> usize {
        let name = self.key.strip_prefix(options::BEFORE);
        name.map_or(0, |name| name.matches('.').count())
    }
}

/// The form.
#[derive(Debug, Default)]
pub struct Form {
    /// The file that the job is about.
    pub file: Option<Source>,
    /// The codes there are.
    pub codes: Vec<CodeInfo>,
    /// The clusters there are.
    pub clusters: Vec<ClusterView>,
    /// The fields, in their order.
    pub fields: Vec<Field>,
    /// What was written in fields that the chosen code and task do not have.
    hidden: Vec<Field>,
    /// What the template is filled in with, where the file is one.
    pub template: Map<String, Value>,
    /// The options of a deck that is written for a structure, once they are known.
    options: Option<Map<String, Value>>,
    /// What further files are, by path; an error where one cannot be used.
    pub kinds: BTreeMap<PathBuf, Result<submission::Kind, String>>,
}

/// What every job may ask of the machine.
#[must_use]
pub fn resources() -> Vec<Spec> {
    let fields = fields::resources().into_iter();
    fields.map(|field| field.spec).collect()
}

/// A field and what is wrong with it.
pub type Fault = (String, String);

impl Form {
    /// Begin with a file; what fits stays from before.
    pub fn begin(&mut self, file: Source) {
        let code = submission::code_for(file.kind, false).unwrap_or_default();
        let same = self.file.as_ref().is_some_and(|old| old.path == file.path);
        self.file = Some(file);
        if !same {
            self.fields.clear();
            self.hidden.clear();
        }
        if self.text(CODE).is_empty() {
            self.make_fields(code);
        }
    }

    /// Be about another file; what is written stays.
    pub fn replace_file(&mut self, file: Source) {
        self.file = Some(file);
        let code = self.text(CODE).to_owned();
        self.make_fields(&code);
    }

    /// The codes have come.
    pub fn take_codes(&mut self, codes: Vec<CodeInfo>) {
        self.codes = codes;
        if self.file.is_some() {
            let code = self.text(CODE).to_owned();
            self.make_fields(&code);
        }
    }

    /// The clusters have come.
    pub fn take_clusters(&mut self, clusters: Vec<ClusterView>) {
        self.clusters = clusters;
        if self.file.is_some() {
            let code = self.text(CODE).to_owned();
            self.make_fields(&code);
        }
    }

    /// The code with this name.
    #[must_use]
    pub fn code(&self) -> Option<&CodeInfo> {
        let name = self.text(CODE);
        self.codes.iter().find(|code| code.name == name)
    }

    /// What is written in a field.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.field(key).map_or("", |field| field.input.text())
    }

    /// The field with this name.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// Choose a code, a task or something else; the fields follow.
    pub fn choose(&mut self, key: &str, text: &str) {
        let is_part = self.field(key).map(|field| &field.spec.kind) == Some(&Kind::Part);
        match key {
            CODE => self.make_fields(text),
            TASK | CLUSTER => self.write_and_follow(key, text),
            key if is_part => self.write_and_follow(key, text),
            key => self.write(key, text),
        }
    }

    fn write_and_follow(&mut self, key: &str, text: &str) {
        self.write(key, text);
        let code = self.text(CODE).to_owned();
        self.make_fields(&code);
    }

    /// Make the fields of a code and of the task that is written; what was written in one that is
    /// there again stays.
    pub fn make_fields(&mut self, code: &str) {
        let mut before = std::mem::take(&mut self.fields);
        before.append(&mut self.hidden);
        let info = self.codes.iter().find(|info| info.name == code);
        let mut fields = fields::head(&self.codes, info);
        for field in &mut fields {
            fill(field, &mut before);
        }
        let task = fields.iter().find(|field| field.key == TASK);
        let task = task.map_or("", |field| field.input.text());
        let parameters = info.map(|info| self.parameters(info, task, &before));
        let parameters = parameters.into_iter().flatten();
        let cluster = before.iter().find(|field| field.key == CLUSTER);
        let cluster = cluster.map(|field| field.input.text().to_owned());
        let tail = fields::tail(&self.clusters, cluster.as_deref().unwrap_or_default());
        let mut rest: Vec<Field> = parameters.chain(tail).collect();
        for field in &mut rest {
            fill(field, &mut before);
        }
        fields.extend(rest);
        before.retain(|old| !old.input.is_empty());
        self.hidden = before;
        self.fields = fields;
        self.write(CODE, code);
        if code == "command"
            && self.text("inputs.argv").is_empty()
            && let Some(file) = &self.file
            && file.kind != submission::Kind::Material
        {
            let program = format!("./{}", file.name);
            let quoted = if program.contains(char::is_whitespace) {
                format!("'{program}'")
            } else {
                program
            };
            self.write("inputs.argv", &quoted);
        }
    }

    /// Write something into a field.
    pub fn write(&mut self, key: &str, text: &str) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.key == key) {
            field.input = TextLine::of(text);
        }
    }

    /// The name that the job gets when none is written.
    #[must_use]
    pub fn default_name(&self) -> String {
        let task = Some(self.text(TASK)).filter(|task| !task.is_empty());
        let named = self.file.as_ref().map_or("", |file| match file.kind {
            // It may be called anything, also with dots and slashes.
            submission::Kind::Material => file.name.as_str(),
            _ => file.path.as_str(),
        });
        submission::name_of(Path::new(named), task)
    }

    /// The further files as they are written, absolute.
    #[must_use]
    pub fn further_files(&self, client: &Client) -> Vec<PathBuf> {
        let words = schema::words(self.text(FILES)).unwrap_or_default();
        words.iter().map(|word| absolute(word, client)).collect()
    }

    /// The submission.
    ///
    /// # Errors
    /// The fields that do not stand for a value, each with the reason.
    pub fn params(&self, client: &Client) -> Result<Value, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut params = Map::new();
        let name = Some(self.text(NAME)).filter(|name| !name.trim().is_empty());
        let name = name.map_or_else(|| self.default_name(), |name| name.trim().to_owned());
        params.insert(NAME.into(), name.into());
        let code = self.text(CODE);
        if code.is_empty() {
            faults.push((CODE.to_owned(), self.doubt()));
        }
        let (mut inputs, mut resources) = (Map::new(), Map::new());
        for field in &self.fields {
            let value = match schema::value(&field.spec.kind, field.input.text()) {
                Ok(Some(value)) => value,
                Ok(None) => continue,
                Err(reason) => {
                    faults.push((field.key.clone(), reason));
                    continue;
                }
            };
            if let Some(path) = field.key.strip_prefix("inputs.") {
                schema::put(&mut inputs, path, value);
            } else if let Some(name) = field.key.strip_prefix("resources.") {
                resources.insert(name.to_owned(), value);
            } else if field.key != FILES && field.key != NAME {
                params.insert(field.key.clone(), value);
            }
        }
        let sources = self.sources(client, &mut faults);
        let parts = submission::parts(code, &sources, inputs);
        if let Some(structure) = parts.structure {
            params.insert("structure".into(), structure);
        }
        for (name, value) in [("inputs", parts.inputs), ("resources", resources)] {
            if !value.is_empty() {
                params.insert(name.into(), value.into());
            }
        }
        if let Some(template) = self.template_id() {
            params.insert("template".into(), template.into());
            params.insert("template_parameters".into(), self.template.clone().into());
        }
        if !parts.files.is_empty() {
            params.insert(FILES.into(), parts.files.into());
        }
        client.put_context(&mut params);
        if faults.is_empty() {
            Ok(Value::Object(params))
        } else {
            Err(faults)
        }
    }

    /// Why the file does not tell the code.
    fn doubt(&self) -> String {
        match self.file.as_ref().map(|file| (&file.name, file.kind)) {
            Some((name, submission::Kind::Either(doubt))) => {
                let choices = doubt.choices().map(|(code, what)| format!("{code} {what}"));
                format!("{name} {}: {}", doubt.reason(), choices.join(", "))
            }
            _ => "choose the code that runs it".to_owned(),
        }
    }

    /// The deck that is run when none is written.
    #[must_use]
    pub fn default_deck(&self) -> Option<String> {
        let sources: Vec<Source> = self.file.iter().cloned().collect();
        let decks = submission::decks(self.text(CODE), &sources);
        decks.first().map(|name| (*name).to_owned())
    }

    fn sources(&self, client: &Client, faults: &mut Vec<Fault>) -> Vec<Source> {
        let mut sources: Vec<Source> = self.file.iter().cloned().collect();
        for path in self.further_files(client) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let mut fault = |reason: String| faults.push((FILES.to_owned(), reason));
            if sources.iter().any(|source| source.name == name) {
                fault(format!("two files have the name {name}"));
            }
            match self.kinds.get(&path) {
                Some(Ok(kind)) => sources.push(Source {
                    name,
                    path: path.to_string_lossy().into_owned(),
                    kind: *kind,
                }),
                Some(Err(reason)) => fault(reason.clone()),
                None => fault("looking at the files".into()),
            }
        }
        sources
    }

    /// The field that an error of the daemon is about; none when it is about the whole.
    #[must_use]
    pub fn field_of(&self, path: &str) -> Option<&str> {
        let begins = |key: &str| {
            path.strip_prefix(key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let keys = self.fields.iter().map(|field| field.key.as_str());
        let found = keys.filter(|key| begins(key)).max_by_key(|key| key.len());
        if found.is_some() {
            return found;
        }
        let about_file = ["structure", "files", "template", "template_parameters"];
        about_file.into_iter().any(begins).then_some(FILE)
    }
}

/// Take over what was written in the field of the same name and kind.
fn fill(field: &mut Field, before: &mut Vec<Field>) {
    let fits = |old: &Field| match &field.spec.kind {
        // There may be other choices now; what was chosen holds while it is one of them.
        Kind::Choice(words) => words.iter().any(|word| word == old.input.text()),
        kind => old.spec.kind == *kind,
    };
    let same = |old: &Field| old.key == field.key && fits(old);
    if let Some(at) = before.iter().position(same) {
        field.input = before.swap_remove(at).input;
    }
    // One choice is none.
    if let Kind::Choice(words) = &field.spec.kind
        && field.input.is_empty()
        && field.key != CLUSTER
        && let [only] = &words[..]
    {
        field.input = TextLine::of(only);
    }
}

/// What the daemon says of a submission: faults by field, and what is about the whole.
#[must_use]
pub fn faults_of(form: &Form, data: &Value, message: &str) -> (Vec<Fault>, Option<String>) {
    let (mut faults, mut whole) = (Vec::new(), None);
    for (path, text) in answers::faults(data, message) {
        // The field says its own name already.
        let text = text
            .strip_prefix(path)
            .map_or(text, |rest| rest.trim_start_matches(": "));
        match form.field_of(path) {
            Some(key) => faults.push((key.to_owned(), text.to_owned())),
            None => whole = Some(text.to_owned()),
        }
    }
    (faults, whole)
}
