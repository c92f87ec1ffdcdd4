//! `crystalmath workflows plot`: a plot of the results, in the terminal or as a picture.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::base64;
use crate::cli::output::{Failure, Outcome};
use crate::cli::session::{Answer, Session, note};
use crate::cli::text::WIDTH;
use crate::cli::writing;
use crate::config;
use crate::error::{IpcError, Result};
use crate::rpc::types::{
    ImageFormat, PlotParams, Reply, Workflow, WorkflowPlot, WorkflowPlotEncoding, calls,
};

/// Arguments of `workflows plot`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the workflow
    pub id: i64,
    /// Name of the plot; the first one when left out
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Write a picture, FILE.png or FILE.svg, instead of drawing in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
    /// Draw with ASCII characters only
    #[arg(long, conflicts_with = "output")]
    pub ascii: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let Some(path) = &args.output else {
        let answer = ask(
            session,
            args.id,
            args.name.clone(),
            ImageFormat::Text,
            args.ascii,
        )?;
        let plot = &answer.read.data;
        session.print(&answer.raw, || drawn(plot))?;
        return Ok(0);
    };
    let format = format_of(path)?;
    writing::check_free([path.as_path()], args.force)?;
    let answer = ask(session, args.id, args.name.clone(), format, false)?;
    writing::write(path, content(&answer.read.data)?, args.force)?;
    session.print(&answer.raw, || format!("{} written", path.display()))?;
    Ok(0)
}

/// The first plot of a workflow's results as text; nothing where it has none.
///
/// What was computed is shown in any case: a drawing that fails is a note.
pub(super) fn first(session: &Session, workflow: &Workflow) -> Option<String> {
    let plots = workflow.results.get("plots")?.as_array()?;
    if session.json() || plots.is_empty() {
        return None;
    }
    match ask(session, workflow.id, None, ImageFormat::Text, false) {
        Ok(answer) => Some(answer.read.data.content),
        Err(error) => {
            note(&format!("the plot could not be drawn: {error}"));
            None
        }
    }
}

fn ask(
    session: &Session,
    id: i64,
    kind: Option<String>,
    format: ImageFormat,
    ascii: bool,
) -> Result<Answer<Reply<WorkflowPlot>>> {
    let ascii = ascii || !config::locale_is_unicode(|name| env::var_os(name));
    session.call::<calls::WorkflowsPlot>(&PlotParams {
        id,
        kind,
        format: Some(format),
        columns: i64::try_from(WIDTH).ok(),
        rows: None,
        ascii: Some(ascii),
    })
}

fn drawn(plot: &WorkflowPlot) -> String {
    let others: Vec<&str> = plot
        .plots
        .iter()
        .map(String::as_str)
        .filter(|name| *name != plot.kind)
        .collect();
    if others.is_empty() {
        return plot.content.trim_end().to_owned();
    }
    format!("{}\nother plots: {}", plot.content, others.join(", "))
}

fn content(plot: &WorkflowPlot) -> std::result::Result<Vec<u8>, Failure> {
    if plot.encoding != WorkflowPlotEncoding::Base64 {
        return Ok(plot.content.clone().into_bytes());
    }
    let broken = || IpcError::Protocol("the daemon gave a picture that cannot be read".into());
    Ok(base64::decode(&plot.content).ok_or_else(broken)?)
}

fn format_of(path: &Path) -> std::result::Result<ImageFormat, Failure> {
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("png") => Ok(ImageFormat::Png),
        Some("svg") => Ok(ImageFormat::Svg),
        Some("txt") => Ok(ImageFormat::Text),
        _ => Err(Failure::usage(
            format!("{} is no name of a picture", path.display()),
            "end it with .png or .svg, or with .txt for a drawing of characters",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_the_format() {
        let of = |name: &str| format_of(Path::new(name)).ok();
        assert_eq!(of("a/eos.png"), Some(ImageFormat::Png));
        assert_eq!(of("eos.SVG"), Some(ImageFormat::Svg));
        assert_eq!(of("eos.txt"), Some(ImageFormat::Text));
        assert_eq!(of("eos"), None);
        assert_eq!(of("eos.pdf"), None);
    }

    #[test]
    fn a_picture_is_bytes_and_a_drawing_is_text() {
        let mut plot = WorkflowPlot {
            content: "iVBO".into(),
            encoding: WorkflowPlotEncoding::Base64,
            kind: "energy".into(),
            plots: vec!["energy".into(), "pressure".into()],
            ..WorkflowPlot::default()
        };
        assert_eq!(content(&plot).ok().as_deref(), Some(&b"\x89PN"[..]));
        plot.content = "iVB".into();
        assert!(content(&plot).is_err());
        plot.encoding = WorkflowPlotEncoding::Text;
        assert_eq!(content(&plot).ok().as_deref(), Some(&b"iVB"[..]));
        assert_eq!(drawn(&plot), "iVB\nother plots: pressure");
    }
}
