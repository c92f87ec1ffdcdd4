//! What the daemon is asked about the form, and what becomes of the answers: each change is checked
//! without waiting, the newest wins; the submission itself is sent once and may be repeated.

use serde_json::{Value, json};

use super::form::{self, faults_of};
use super::{MORE, NewJob, Pane, Step};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::Tone;
use crate::rpc::types::{
    ClusterView, ClustersMeta, CodeInfo, CodesMeta, Page, Reply, SubmitResult,
};
use crate::screens::wording::speak;
use crate::screens::{Cx, ScreenId, Subject};
use crate::submission::Kind;

/// Slot of the checks.
pub const CHECK: &str = "check";
/// Slot of the submission.
pub const SUBMIT: &str = "submit";

impl NewJob {
    /// The codes may come after the form was opened, and again after a reconnect; they change its
    /// fields.
    pub(super) fn take_codes(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        match result {
            Ok(value) => {
                let page: Page<CodeInfo, CodesMeta> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                let here = self.field().map(|field| field.key.clone());
                self.form.take_codes(page.data);
                self.fill_begun();
                self.codes_error = None;
                if self.step == Step::Form {
                    self.keep_place(here.as_deref());
                    self.check(cx);
                }
            }
            Err(error) => self.codes_error = Some(error_text(error)),
        }
        cx.redraw();
    }

    /// The clusters may come later, too. Without them there is no choice, and the job runs here.
    pub(super) fn take_clusters(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let Ok(value) = result else { return };
        let page: Page<ClusterView, ClustersMeta> =
            serde_json::from_value(value.clone()).unwrap_or_default();
        if page.data == self.form.clusters {
            return;
        }
        let here = self.field().map(|field| field.key.clone());
        self.form.take_clusters(page.data);
        if self.step == Step::Form {
            self.keep_place(here.as_deref());
            self.check(cx);
        }
        cx.redraw();
    }

    /// The fields are others: stay in the field with this key, or on the button.
    pub(super) fn keep_place(&mut self, key: Option<&str>) {
        if !self.touched {
            self.go_to_open();
            return;
        }
        let fields = &self.form.fields;
        let at = key.map_or(Some(fields.len()), |key| {
            fields.iter().position(|field| field.key == key)
        });
        self.cursor = at.unwrap_or(self.cursor).min(fields.len());
    }

    /// Something has changed: let the daemon look at it.
    pub(super) fn check(&mut self, cx: &mut Cx<'_>) {
        self.version += 1;
        self.look_further(cx);
        self.ask_options(cx);
        match self.form.params(&cx.data().client) {
            Ok(mut params) => {
                params["dry_run"] = true.into();
                cx.ask(CHECK, self.version, "jobs.submit", params);
            }
            Err(faults) => {
                self.faults = faults.into_iter().rev().collect();
                self.whole = None;
                self.dry = None;
                self.checked = self.version;
            }
        }
        cx.redraw();
    }

    /// Look at the first further file that nothing is known of.
    fn look_further(&mut self, cx: &mut Cx<'_>) {
        if self.looking.is_some() {
            return;
        }
        let files = self.form.further_files(&cx.data().client);
        let next = files
            .into_iter()
            .find(|path| !self.form.kinds.contains_key(path));
        if let Some(path) = next {
            self.looking = Some(path.clone());
            cx.look_at_file(MORE, path);
        }
    }

    /// A further file was looked at.
    pub(super) fn looked(&mut self, result: &Result<Kind, String>, cx: &mut Cx<'_>) {
        if let Some(path) = self.looking.take() {
            // Paths that are only half typed are not kept for ever.
            if self.form.kinds.len() > 1000 {
                self.form.kinds.clear();
            }
            self.form.kinds.insert(path, result.clone());
        }
        if self.step == Step::Form {
            self.check(cx);
        }
    }

    /// The daemon has looked at version `tag`.
    pub(super) fn checked(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        if tag != self.version {
            return;
        }
        self.checked = tag;
        self.faults.clear();
        self.whole = None;
        match result {
            Ok(value) => {
                let reply: Reply<SubmitResult> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                self.dry = reply.data.dry_run;
            }
            Err(error) => {
                self.dry = None;
                self.take_error(error);
            }
        }
        self.find_deck(result.as_ref().err(), cx);
        cx.redraw();
    }

    fn take_error(&mut self, error: &IpcError) {
        let (faults, whole) = match error {
            IpcError::Rpc { message, data, .. } => faults_of(&self.form, data, message),
            error => (Vec::new(), Some(error_text(error))),
        };
        let hint = error.hint().as_deref().map(speak);
        for (key, text) in faults.into_iter().rev() {
            let text = speak(&text);
            // With one fault the hint belongs to it.
            let text = match &hint {
                Some(hint) if !text.contains(hint.as_str()) && !hint.contains(&text) => {
                    format!("{text} ({hint})")
                }
                _ => text,
            };
            self.faults.insert(key, text);
        }
        self.whole = whole.as_deref().map(speak);
    }

    /// Submit what the form says, if nothing is known to be wrong with it.
    pub(super) fn submit(&mut self, cx: &mut Cx<'_>) {
        cx.redraw();
        if self.submitting.is_some() {
            return;
        }
        let params = self.form.params(&cx.data().client);
        if let Some(why) = self.deck_forbids() {
            return cx.toast(Tone::Warn, why);
        }
        let known =
            self.checked == self.version && (!self.faults.is_empty() || self.whole.is_some());
        match params {
            Ok(mut params) if !known => {
                // The same form has the same token, so that a resend is no second job.
                let token = format!("{}-{}", cx.data().client.token, self.version);
                params["client_token"] = json!(token);
                self.submitting = Some(self.version);
                cx.send(SUBMIT, self.version, "jobs.submit", params);
            }
            _ => self.go_to_fault(cx),
        }
    }

    /// Put the cursor on the first field with a fault.
    fn go_to_fault(&mut self, cx: &mut Cx<'_>) {
        let fields = &self.form.fields;
        let first = fields
            .iter()
            .position(|field| self.faults.contains_key(&field.key));
        if let Some(at) = first {
            self.cursor = at;
        }
        let words = match (first, &self.whole) {
            (Some(_), _) => "something is still wrong here",
            (None, Some(_)) => "the daemon does not take it as it is",
            (None, None) if self.faults.contains_key(form::FILE) => "the file cannot be used",
            (None, None) => "it is still being checked",
        };
        cx.toast(Tone::Warn, words);
    }

    /// The answer to the submission.
    pub(super) fn submitted(
        &mut self,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        if self.submitting == Some(tag) {
            self.submitting = None;
        }
        cx.redraw();
        match result {
            Ok(value) => {
                let reply: Reply<SubmitResult> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                let Some(job) = reply.data.job else {
                    cx.toast(Tone::Bad, "the daemon named no job");
                    return;
                };
                let id = job.id;
                cx.toast(Tone::Good, format!("job {id} submitted: {}", job.name));
                cx.take_job(job);
                self.step = Step::File;
                self.editing = None;
                self.pane = Pane::Form;
                self.forget_deck();
                self.dry = None;
                // The next one is another job, also from the same form.
                self.version += 1;
                cx.close();
                cx.open(ScreenId::Job, Some(Subject::Job(id)));
            }
            Err(error) => {
                if tag == self.version {
                    self.checked = tag;
                    self.faults.clear();
                    // A lost connection says nothing about the form.
                    if matches!(error, IpcError::Rpc { .. }) {
                        self.take_error(error);
                    }
                }
                cx.toast_error(error);
            }
        }
    }
}
