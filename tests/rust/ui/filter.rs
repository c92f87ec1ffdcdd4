//! The filter language.

use crystalmath::app::{Data, Row};
use crystalmath::screens::jobs::Filter;

use super::{NOW, some_jobs};

fn fitting(text: &str) -> Vec<i64> {
    let data = Data {
        now: NOW,
        ..Data::default()
    };
    let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    some_jobs()
        .into_iter()
        .map(|job| Row::new(job, NOW))
        .filter(|row| filter.fits(row, &data))
        .map(|row| row.job.id)
        .collect()
}

#[test]
fn what_fits_what() {
    let all: Vec<i64> = (1..=8).collect();
    for (text, wanted) in [
        ("", &all[..]),
        ("   ", &all),
        ("state:running", &[3, 8]),
        ("state:RUN", &[3, 8]),
        ("state:running,failed", &[2, 3, 8]),
        ("state:active", &[3, 4, 7, 8]),
        ("state:ended", &[1, 2, 5, 6]),
        ("-state:ended", &[3, 4, 7, 8]),
        ("code:espresso", &[3]),
        ("code:ESPRESSO state:running", &[3]),
        ("code:espresso state:failed", &[]),
        ("name~mgo", &[3]),
        ("name~晶体", &[3]),
        ("name~\"is much\"", &[5]),
        ("where:hpc1", &[3, 7]),
        ("cluster:hpc1", &[3, 7]),
        ("tag:test", &[8]),
        ("reason~memory", &[2]),
        ("is:attention", &[6, 7]),
        ("-is:attention where:hpc1", &[3]),
        (">30m", &all),
        (">2d", &[]),
        ("age<2h", &all),
        ("time>1h", &[2, 3]),
        ("energy<0", &[1]),
        ("id>6", &[7, 8]),
        ("id:2,4", &[2, 4]),
        ("copper", &[1]),
        ("8", &[8]),
        ("-copper id<3", &[2]),
        ("-", &[]),
    ] {
        // A lone "-" is text: no name of these jobs but one holds it.
        let wanted = if text == "-" { &[3][..] } else { wanted };
        assert_eq!(fitting(text), wanted, "{text:?}");
    }
}

#[test]
fn what_is_refused_says_what_there_is() {
    for (text, words) in [
        ("state:sleeping", "there are active, ended, created"),
        ("state:running,", "there is no state \"\""),
        ("state:", "needs something after \":\""),
        ("colour:red", "there is no field \"colour\""),
        ("name~", "needs something after \"~\""),
        (">2y", "write 30s, 10m, 2h, 3d or 1w"),
        (">", "needs something after \">\""),
        (">é", "is no time"),
        ("code>2", "\"code\" cannot be compared"),
        ("atoms>many", "\"many\" is no number"),
        ("name~\"a b", "a quote is not closed"),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert!(error.contains(words), "{text:?}: {error}");
    }
}
