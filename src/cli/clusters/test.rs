//! `crystalmath clusters test`: what works, part by part.

use super::list::{OneArgs, colour};
use crate::cli::output::Outcome;
use crate::cli::session::Session;
use crate::cli::text;
use crate::cli::wording::{Commands, speak_of};
use crate::clusters::{self, Verdict};
use crate::rpc::types::{ClusterReport, calls};

/// Columns of the names of parts.
const NAMES: usize = 12;

/// 1 when something is wrong.
pub(super) fn run(session: &Session, args: &OneArgs) -> Outcome {
    let answer = session.call::<calls::ClustersTest>(&args.params())?;
    let found = &answer.read.data;
    session.print(&answer.raw, || {
        describe(found, &args.cluster, session.colour())
    })?;
    Ok(u8::from(!found.reachable || !found.problems.is_empty()))
}

/// The report in lines, with what is wrong at its end.
fn describe(found: &ClusterReport, cluster: &str, wants_colour: bool) -> String {
    let parts = clusters::report(found);
    let mut lines: Vec<String> = parts
        .iter()
        .map(|part| {
            let mark = match part.verdict {
                Verdict::Good => "ok",
                Verdict::Bad => "BAD",
                Verdict::Look => "look",
                Verdict::Plain => "",
            };
            let mark = text::paint(
                &text::pad(mark, 4, false),
                colour(part.verdict),
                wants_colour,
            );
            let name = text::pad(part.name, NAMES, false);
            let indent = " ".repeat(NAMES + 6);
            let said = text::wrap(&speak(&part.said), text::WIDTH - indent.len(), &indent);
            format!("{mark}  {name}{said}")
        })
        .collect();
    for problem in &found.problems {
        lines.push(format!(
            "\nproblem: {}",
            text::wrap(&speak(&problem.what), 71, "  ")
        ));
        if let Some(hint) = &problem.hint {
            let hint = speak(hint).replace("CLUSTER", cluster);
            lines.push(format!("hint: {}", text::wrap(&hint, 74, "  ")));
        }
    }
    if clusters::unknown_key(found).is_some() {
        lines.push(format!(
            "\ncompare the fingerprint with what the site publishes, then:\n  crystalmath clusters \
             accept-host-key {cluster}"
        ));
    }
    if found.problems.is_empty() && found.reachable {
        lines.push("\nnothing is wrong".to_owned());
    }
    lines.join("\n")
}

fn speak(text: &str) -> String {
    speak_of(Commands::Clusters, text, None)
}
