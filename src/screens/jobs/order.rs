//! Which jobs are listed, and in which order. What sorts a job is worked out once and kept, so that a
//! key or an event costs little among ten thousand jobs: a filter that only narrows goes over what
//! is listed already, and a job that has changed is put in its place.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

use super::columns::{ColumnId, Rank};
use super::filter::Filter;
use crate::app::{Data, Row};

/// More changes at once are sorted anew.
const FEW: usize = 32;
/// Bytes of a text that its key holds; one more says whether the text goes on.
const HEAD: usize = 15;
/// A filter that narrows goes over what is listed when that is at most this part of all jobs; to go
/// through all of them in their order costs less otherwise.
const PART: usize = 8;

/// The jobs that fit, in their order.
#[derive(Debug, Default)]
pub struct Order {
    ids: Vec<i64>,
    /// The key of each.
    keys: Vec<Key>,
    /// What it was made with; nothing before the first time.
    made: Option<By>,
    /// The version of the job list that it was made from.
    version: u64,
}

/// How to make it.
#[derive(Debug, Clone, PartialEq)]
pub struct By {
    /// Who is listed.
    pub filter: Filter,
    /// The column that sorts.
    pub column: ColumnId,
    /// The largest first.
    pub descending: bool,
}

/// What sorts a job; comparing keys compares their heads, then their numbers, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The value, or the beginning of a text; turned round where the largest is to come first.
    head: [u64; 2],
    id: Reverse<i64>,
}

impl Order {
    /// The numbers of the jobs.
    #[must_use]
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// Whether the job list is another one now.
    #[must_use]
    pub const fn is_old(&self, data: &Data) -> bool {
        self.version != data.jobs.version
    }

    /// Make it anew.
    pub fn make(&mut self, by: By, data: &Data) {
        if self.can_narrow(&by, data) {
            self.keys.retain(|key| {
                let row = data.jobs.get(key.id.0);
                row.is_some_and(|row| by.filter.fits(row, data))
            });
        } else if self.can_turn(&by, data) {
            self.turn(&by, data);
        } else {
            self.keys.clear();
            for row in data.jobs.rows().filter(|row| by.filter.fits(row, data)) {
                self.keys.push(key(row, &by, data));
            }
            self.sort(&by, data);
        }
        self.finish(by, data);
    }

    /// These jobs have changed, and no others since it was made.
    pub fn change(&mut self, ids: &[i64], by: By, data: &Data) {
        if self.made.as_ref() != Some(&by) || ids.len() > FEW || by.changes_with_time() {
            self.made = None;
            self.make(by, data);
            return;
        }
        let changed: HashSet<i64> = ids.iter().copied().collect();
        self.keys.retain(|key| !changed.contains(&key.id.0));
        for row in changed.iter().filter_map(|id| data.jobs.get(*id)) {
            if by.filter.fits(row, data) {
                let key = key(row, &by, data);
                let before = |other: &Key| compare(other, &key, &by, data).is_lt();
                let at = self.keys.partition_point(before);
                self.keys.insert(at, key);
            }
        }
        self.finish(by, data);
    }

    /// Whether those that fit are among those that are listed, and those are few.
    fn can_narrow(&self, by: &By, data: &Data) -> bool {
        let few = self.keys.len() <= data.jobs.len() / PART;
        few && !self.is_old(data)
            && !by.changes_with_time()
            && self.made.as_ref().is_some_and(|made| {
                let same = (made.column, made.descending) == (by.column, by.descending);
                same && by.filter.narrows(&made.filter)
            })
    }

    /// Whether only the other end is to come first.
    fn can_turn(&self, by: &By, data: &Data) -> bool {
        !self.is_old(data)
            && !by.changes_with_time()
            && self.made.as_ref().is_some_and(|made| {
                let turned = made.descending != by.descending && made.column == by.column;
                turned && by.filter == made.filter
            })
    }

    /// The other end first. Those that are equal in the column keep their order.
    fn turn(&mut self, by: &By, data: &Data) {
        self.keys.reverse();
        for key in &mut self.keys {
            key.head = key.head.map(|word| !word);
        }
        let equal = |a: &Key, b: &Key| {
            let by_head = a.head == b.head;
            by_head
                && (!by.column.is_text()
                    || !goes_on(a, by)
                    || compare_texts(rank_of(a, by, data), rank_of(b, by, data), by).is_eq())
        };
        for same in self.keys.chunk_by_mut(equal) {
            same.reverse();
        }
    }

    fn sort(&mut self, by: &By, data: &Data) {
        self.keys.sort_unstable();
        if !by.column.is_text() {
            return;
        }
        // Long texts that begin alike.
        for alike in self.keys.chunk_by_mut(|a, b| a.head == b.head) {
            if alike.len() > 1 && goes_on(&alike[0], by) {
                sort_alike(alike, by, data);
            }
        }
    }

    fn finish(&mut self, by: By, data: &Data) {
        self.version = data.jobs.version;
        self.made = Some(by);
        self.ids.clear();
        self.ids.extend(self.keys.iter().map(|key| key.id.0));
    }
}

impl By {
    /// Whether the order is another one a moment later, without any news.
    const fn changes_with_time(&self) -> bool {
        self.filter.changes_with_time() || self.column.changes_with_time()
    }
}

fn key(row: &Row, by: &By, data: &Data) -> Key {
    let head = match by.column.rank(row, data) {
        Rank::Number(None) | Rank::Text(None) => [0, 0],
        Rank::Number(Some(number)) => [1, ordered(number)],
        Rank::Text(Some(text)) => head_of(text.bytes()),
        Rank::Texts(texts) => head_of(texts.iter().flat_map(|text| text.bytes().chain([0]))),
    };
    Key {
        head: if by.descending {
            head.map(|word| !word)
        } else {
            head
        },
        id: Reverse(row.job.id),
    }
}

/// The first bytes, the very first counting most; the last says whether there are more.
fn head_of(mut bytes: impl Iterator<Item = u8>) -> [u64; 2] {
    let mut head = [0; HEAD + 1];
    for (place, byte) in head[..HEAD].iter_mut().zip(&mut bytes) {
        *place = byte;
    }
    head[HEAD] = u8::from(bytes.next().is_some());
    let head = u128::from_be_bytes(head);
    // The halves of it.
    #[allow(clippy::cast_possible_truncation)]
    [(head >> 64) as u64, head as u64]
}

/// Whether a text goes on after its head.
const fn goes_on(key: &Key, by: &By) -> bool {
    (key.head[1] & 1 == 1) != by.descending
}

/// Bits that are in the order of the numbers, as [`f64::total_cmp`] has it.
const fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Jobs that are equal in the column stand in the order of their numbers, the newest first.
fn compare(a: &Key, b: &Key, by: &By, data: &Data) -> Ordering {
    let heads = a.head.cmp(&b.head);
    if heads.is_ne() || !by.column.is_text() || !goes_on(a, by) {
        return heads.then(a.id.cmp(&b.id));
    }
    let texts = compare_texts(rank_of(a, by, data), rank_of(b, by, data), by);
    texts.then(a.id.cmp(&b.id))
}

/// Sort jobs whose texts begin alike. Each text is looked up once.
fn sort_alike(alike: &mut [Key], by: &By, data: &Data) {
    let mut whole: Vec<(Rank<'_>, Key)> = alike
        .iter()
        .map(|key| (rank_of(key, by, data), *key))
        .collect();
    whole.sort_unstable_by(|(a, x), (b, y)| compare_texts(*a, *b, by).then(x.id.cmp(&y.id)));
    for (place, (_, key)) in alike.iter_mut().zip(whole) {
        *place = key;
    }
}

fn rank_of<'a>(key: &Key, by: &By, data: &'a Data) -> Rank<'a> {
    let row = data.jobs.get(key.id.0);
    row.map_or(Rank::Text(None), |row| by.column.rank(row, data))
}

fn compare_texts(a: Rank<'_>, b: Rank<'_>, by: &By) -> Ordering {
    let order = match (a, b) {
        (Rank::Text(a), Rank::Text(b)) => a.cmp(&b),
        (Rank::Texts(a), Rank::Texts(b)) => a.cmp(b),
        _ => Ordering::Equal,
    };
    if by.descending {
        order.reverse()
    } else {
        order
    }
}
