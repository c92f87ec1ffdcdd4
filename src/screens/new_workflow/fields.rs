//! The fields of the form: of every workflow, of its kind, and of what computes it.

use std::collections::BTreeMap;

use super::NewWorkflow;
use crate::rpc::types::{EngineUse, KindInfo};
use crate::screens::new_job::form::resources;
use crate::screens::new_job::schema::{self, Kind, Spec};
use crate::screens::wording::speak;

/// What is to be found out.
pub(super) const KIND: &str = "kind";
/// What it starts from.
pub(super) const STRUCTURE: &str = "structure";
/// What computes it: an engine or a code.
pub(super) const BY: &str = "engine";
/// Where its jobs run.
pub(super) const CLUSTER: &str = "cluster";
/// For people.
pub(super) const NAME: &str = "name";
/// Before the names of the options of a kind.
const OPTIONS: &str = "options.";
/// Before the names of what a code takes.
const INPUTS: &str = "inputs.";

/// Every field that there is now.
pub(super) fn specs(screen: &NewWorkflow) -> Vec<Spec> {
    let kinds = screen.kinds.iter().map(|kind| kind.kind.clone());
    let mut specs = vec![
        needed(
            KIND,
            "kind",
            Kind::Choice(kinds.collect()),
            "What is to be found out.",
        ),
        needed(
            STRUCTURE,
            "structure",
            Kind::Structure,
            "What it starts from; of a job that has completed the structure that it ended with.",
        ),
    ];
    let Some(kind) = screen.kind() else {
        return specs;
    };
    let by: Vec<String> = uses(kind).map(|one| one.name.clone()).collect();
    specs.push(needed(
        BY,
        "computed by",
        Kind::Choice(by),
        "The force engine or the code that computes it.",
    ));
    let chosen = screen.form.text(BY);
    let engine = kind.engines.iter().any(|one| one.name == chosen);
    if engine {
        let help = "The engine's model, by name or path, where it has several.";
        specs.push(free("model", "model", Kind::Text, help));
    }
    // A part of the options is seen where it is chosen.
    let options = schema::specs_of_parts(&kind.options, &|_| true).into_iter();
    specs.extend(options.map(|spec| behind(OPTIONS, spec)));
    let code = screen.codes.iter().find(|code| code.name == chosen);
    if let Some(code) = code.filter(|_| !engine) {
        let own = schema::specs_of(code, "").into_iter();
        let mut own: Vec<Spec> = own.map(|spec| behind(INPUTS, spec)).collect();
        for spec in &mut own {
            // The workflow sets some by itself; what is missing the daemon says.
            spec.required = false;
        }
        specs.extend(own);
        let names: Vec<String> = screen.clusters.iter().map(|one| one.name.clone()).collect();
        if !names.is_empty() {
            let mut cluster = free(
                CLUSTER,
                "cluster",
                Kind::Choice(names),
                "Where its jobs run.",
            );
            cluster.default = Some("this machine".into());
            specs.push(cluster);
        }
    }
    specs.extend(resources());
    specs.push(free(
        NAME,
        "name",
        Kind::Text,
        "For people; made up when nothing is written.",
    ));
    specs
}

fn free(name: &str, label: &str, kind: Kind, help: &str) -> Spec {
    Spec {
        name: name.into(),
        label: label.into(),
        unit: String::new(),
        kind,
        default: None,
        required: false,
        bounds: String::new(),
        help: help.into(),
    }
}

fn needed(name: &str, label: &str, kind: Kind, help: &str) -> Spec {
    Spec {
        required: true,
        ..free(name, label, kind, help)
    }
}

fn behind(before: &str, spec: Spec) -> Spec {
    Spec {
        name: format!("{before}{}", spec.name),
        ..spec
    }
}

/// What a kind can or cannot be computed by.
pub(super) fn uses(kind: &KindInfo) -> impl Iterator<Item = &EngineUse> {
    kind.engines.iter().chain(&kind.codes)
}

/// How the choices are read: with what they are, and why they cannot be used.
pub(super) fn titles(
    kinds: &[KindInfo],
    chosen: Option<&KindInfo>,
) -> BTreeMap<(String, String), String> {
    let mut titles = BTreeMap::new();
    for kind in kinds {
        let why = kind.reason.as_deref().filter(|_| !kind.usable);
        let why = why.map(|why| format!(" (cannot be started: {})", speak(why)));
        let words = format!("{:12} {}{}", kind.kind, kind.title, why.unwrap_or_default());
        titles.insert((KIND.to_owned(), kind.kind.clone()), words);
    }
    for one in chosen.into_iter().flat_map(uses).filter(|one| !one.usable) {
        let why = one.reason.as_deref().map(speak).unwrap_or_default();
        let words = format!("{:12} (cannot be used: {why})", one.name);
        titles.insert((BY.to_owned(), one.name.clone()), words);
    }
    titles
}

/// What is chosen and cannot be used, each with the reason.
pub(super) fn unusable(screen: &NewWorkflow) -> Vec<(&'static str, String)> {
    let Some(kind) = screen.kind() else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    let words = |why: &Option<String>| {
        let why = why.as_deref().map(speak);
        why.unwrap_or_else(|| "it cannot be used".into())
    };
    if !kind.usable {
        faults.push((KIND, words(&kind.reason)));
    }
    let chosen = screen.form.text(BY);
    let by = uses(kind).find(|one| one.name == chosen);
    if let Some(one) = by.filter(|one| !one.usable) {
        faults.push((BY, words(&one.reason)));
    }
    faults
}

/// What is needed and not there.
pub(super) fn missing(screen: &NewWorkflow) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    let wanted = [
        (KIND, "choose what is to be found out"),
        (STRUCTURE, "name the structure"),
        (BY, "choose what computes it"),
    ];
    for (name, words) in wanted {
        let there = screen.form.specs().any(|spec| spec.name == name);
        if there && screen.form.text(name).is_empty() {
            faults.push((name.to_owned(), words.to_owned()));
        }
    }
    faults
}
