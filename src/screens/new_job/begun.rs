//! A new job that another screen begins, with what it has already.

use serde_json::{Map, Value};

use super::form::CODE;
use super::{NewJob, Step, schema};
use crate::screens::{Cx, Start};
use crate::submission::{Kind, code_for};

impl NewJob {
    /// Begin with what another screen has; whatever stood here before gives way.
    pub(super) fn begin_with_start(&mut self, start: &Start, cx: &mut Cx<'_>) {
        // Also where the same structure stood here before: what was set for it gives way.
        self.form.file = None;
        self.form.begin(start.source.clone());
        let told = code_for(start.source.kind, false);
        if let Some(code) = start.code.as_deref().or(told) {
            self.form.choose(CODE, code);
        }
        self.begun.clone_from(&start.inputs);
        self.form.template = match start.source.kind {
            Kind::Template => std::mem::take(&mut self.begun),
            _ => Map::new(),
        };
        self.forget_deck();
        self.fill_begun();
        self.step = Step::Form;
        self.editing = None;
        self.touched = false;
        self.go_to_open();
        self.check(cx);
    }

    /// Write what was begun with into the fields of the code, once they are there.
    pub(super) fn fill_begun(&mut self) {
        let form = &mut self.form;
        self.begun.retain(|name, value| {
            // The options of a deck are fields of their own once they are known.
            if let ("options", Value::Object(options)) = (name.as_str(), &*value)
                && form.has_options()
            {
                form.write_options(options);
                return false;
            }
            let key = format!("inputs.{name}");
            let Some(field) = form.field(&key) else {
                return true;
            };
            let text = schema::text_of(&field.spec.kind, value);
            form.write(&key, &text);
            false
        });
    }
}
