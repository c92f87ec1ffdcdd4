//! The parameters of a code as fields. Those of a deck that is written for a structure are a schema of
//! their own, whose parts open where they are chosen.

use serde_json::{Map, Value};

use super::{CODE, Field, Form};
use crate::rpc::types::CodeInfo;
use crate::screens::new_job::schema::{self, Kind, Spec};
use crate::submission;
use crate::widgets::input::TextLine;

/// The code that writes decks for structures.
const WRITER: &str = "crystal";
/// What the options of a deck are in its `inputs`.
const OPTIONS: &str = "options";
/// Before the names of their fields.
pub(super) const BEFORE: &str = "inputs.options.";

impl Form {
    /// Whether the chosen code writes a deck for the chosen structure.
    #[must_use]
    pub fn writes_deck(&self) -> bool {
        self.would_write(self.text(CODE))
    }

    fn would_write(&self, code: &str) -> bool {
        let Some(file) = &self.file else { return false };
        let kinds = [submission::Kind::Structure, submission::Kind::Material];
        code == WRITER
            && kinds.contains(&file.kind)
            && submission::decks(code, std::slice::from_ref(file)).is_empty()
    }

    /// Whether the options of the deck are still to be asked for.
    #[must_use]
    pub fn wants_options(&self) -> bool {
        self.options.is_none() && self.writes_deck()
    }

    /// Whether there are fields for the options of a deck.
    #[must_use]
    pub fn has_options(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.key.starts_with(BEFORE))
    }

    /// The schema of the options of a deck has come.
    pub fn take_options(&mut self, options: Map<String, Value>) {
        self.options = Some(options);
        if self.file.is_none() {
            return;
        }
        // What was written as a whole belongs to the single fields now.
        let whole = self.field("inputs.options").map(|field| field.input.text());
        let whole = whole.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let code = self.text(CODE).to_owned();
        self.make_fields(&code);
        if let Some(Value::Object(whole)) = whole {
            self.write_options(&whole);
        }
    }

    /// Write these options into their fields.
    pub fn write_options(&mut self, options: &Map<String, Value>) {
        self.write_part(BEFORE, options);
    }

    fn write_part(&mut self, path: &str, part: &Map<String, Value>) {
        for (name, value) in part {
            let key = format!("{path}{name}");
            let Some(kind) = self.field(&key).map(|field| field.spec.kind.clone()) else {
                continue;
            };
            self.choose(&key, &schema::text_of(&kind, value));
            if let (Kind::Part, Value::Object(inner)) = (kind, value) {
                self.write_part(&format!("{key}."), inner);
            }
        }
    }

    /// The parameters of a task of a code; `before` is what was written until now.
    pub(super) fn parameters(&self, info: &CodeInfo, task: &str, before: &[Field]) -> Vec<Field> {
        let writes = self.would_write(&info.name);
        let mut fields = Vec::new();
        for spec in schema::specs_of(info, task) {
            let is_options = info.name == WRITER && spec.name == OPTIONS;
            match &self.options {
                // A deck that is there has what it has.
                _ if is_options && !writes => {}
                Some(options) if is_options => fields.extend(deck_fields(options, before)),
                _ => fields.push(field("Parameters", "inputs.", spec)),
            }
        }
        fields
    }
}

fn deck_fields(options: &Map<String, Value>, before: &[Field]) -> Vec<Field> {
    let chosen = |name: &str| {
        let key = format!("{BEFORE}{name}");
        let mut written = before.iter().filter(|field| field.key == key);
        written.any(|field| field.input.text() == "yes")
    };
    let specs = schema::specs_of_parts(options, &chosen).into_iter();
    specs.map(|spec| field("Deck", BEFORE, spec)).collect()
}

fn field(section: &'static str, before: &str, spec: Spec) -> Field {
    Field {
        key: format!("{before}{}", spec.name),
        section,
        spec,
        input: TextLine::default(),
    }
}
