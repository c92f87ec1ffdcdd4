//! What the daemon is asked, and what becomes of the answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NewWorkflow;
use super::fields::{BY, KIND, STRUCTURE};
use crate::app::Client;
use crate::error::IpcError;
use crate::msg::Tone;
use crate::rpc::types::{
    ClusterView, ClustersMeta, CodeInfo, CodesMeta, CreateResult, KindInfo, KindsMeta, Page, Reply,
    method,
};
use crate::screens::new_job::absolute;
use crate::screens::{Cx, ScreenId, Subject, answers};

/// The slot of the start.
pub(super) const CREATE: &str = "create";
const KINDS: &str = "workflows.available";
const CODES: &str = "codes.list";
const CLUSTERS: &str = "clusters.list";

/// Faults by the names of fields.
type Faults = BTreeMap<String, String>;

/// Read what there is to choose from.
pub(super) fn read(cx: &mut Cx<'_>) {
    for method in [KINDS, CODES, CLUSTERS] {
        cx.ask(method, 0, method, json!({}));
    }
}

/// The method that starts the workflow, and its params.
pub(super) fn params(
    screen: &NewWorkflow,
    client: &Client,
) -> Result<(&'static str, Value), Faults> {
    let fault = |name: &str, words: &str| Faults::from([(name.to_owned(), words.to_owned())]);
    let Some(kind) = screen.kind() else {
        return Err(fault(KIND, "choose what is to be found out"));
    };
    let Some(known) = method(&kind.method) else {
        return Err(fault(KIND, "this program does not know how it is started"));
    };
    let mut values = screen.form.values()?;
    values.remove(KIND);
    if let Some(by) = values.remove(BY) {
        let is_engine = kind.engines.iter().any(|one| by == one.name.as_str());
        values.insert(if is_engine { "engine" } else { "code" }.into(), by);
    }
    let structure = values.get_mut(STRUCTURE);
    if let Some(path) = structure.and_then(|structure| structure.get_mut("path")) {
        let whole = absolute(path.as_str().unwrap_or_default(), client);
        *path = whole.to_string_lossy().into_owned().into();
    }
    client.put_context(&mut values);
    // The same form has the same token, so that a resend is no second workflow.
    let token = format!("{}-w{}", client.token, screen.version);
    values.insert("client_token".into(), token.into());
    Ok((known.name, Value::Object(values)))
}

impl NewWorkflow {
    pub(super) fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        cx.redraw();
        match slot {
            KINDS => match answers::read::<Page<KindInfo, KindsMeta>>(KINDS, result) {
                Ok(page) => {
                    self.kinds = page.data;
                    self.error = None;
                }
                Err(_) if answers::is_cut_off(result) => {}
                Err(error) => self.error = Some(error),
            },
            // Without codes there are no fields of theirs; without clusters jobs run here.
            CODES => {
                if let Ok(page) = answers::read::<Page<CodeInfo, CodesMeta>>(CODES, result) {
                    self.codes = page.data;
                }
            }
            CLUSTERS => {
                if let Ok(page) = answers::read::<Page<ClusterView, ClustersMeta>>(CLUSTERS, result)
                {
                    self.clusters = page.data;
                }
            }
            CREATE => return self.created(tag, result, cx),
            _ => return,
        }
        self.arrange();
    }

    fn created(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        if self.sent == Some(tag) {
            self.sent = None;
        }
        match answers::read::<Reply<CreateResult>>(CREATE, result) {
            Ok(reply) => {
                let workflow = reply.data.workflow;
                let id = workflow.id;
                let words = format!("workflow {id} started: {}", workflow.name);
                cx.toast(Tone::Good, words);
                // The next one is another workflow, also from the same form.
                self.version += 1;
                self.form.whole = None;
                cx.take_workflow(workflow);
                cx.close();
                cx.open(ScreenId::Workflow, Some(Subject::Workflow(id)));
            }
            Err(words) => {
                match result {
                    // What has changed since is not what was refused.
                    Err(error @ IpcError::Rpc { .. }) if tag == self.version => {
                        self.form.refused(&as_the_form_calls_it(error), "");
                        self.form.go_to_fault();
                    }
                    _ => {}
                }
                cx.toast(Tone::Bad, words);
            }
        }
    }
}

/// An error with the names that the fields have here: an engine and a code are one.
fn as_the_form_calls_it(error: &IpcError) -> IpcError {
    let mut error = error.clone();
    let rename = |field: &mut Value| match field.as_str() {
        Some("code") => *field = BY.into(),
        Some("job") => *field = STRUCTURE.into(),
        _ => {}
    };
    if let IpcError::Rpc { data, .. } = &mut error {
        if let Some(field) = data.get_mut("field") {
            rename(field);
        }
        let fields = data.get_mut("fields").and_then(Value::as_array_mut);
        for one in fields.into_iter().flatten() {
            if let Some(field) = one.get_mut("field") {
                rename(field);
            }
        }
    }
    error
}
