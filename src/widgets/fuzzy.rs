//! Fuzzy matching: the letters of what is typed, in their order, anywhere in a text.

/// What was typed, ready to be looked for in many texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    letters: Vec<char>,
}

impl Typed {
    /// Case and blanks mean nothing.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let letters = text.chars().map(lower);
        Self {
            letters: letters.filter(|c| *c != ' ').collect(),
        }
    }

    /// How well `text` fits; higher is better, `None` when it does not. Starts of words and runs of
    /// letters count more. Copies nothing: every job is asked at every key.
    #[must_use]
    pub fn score(&self, text: &str) -> Option<i64> {
        if self.letters.is_empty() {
            return Some(0);
        }
        let mut wanted = self.letters.iter();
        let mut next = wanted.next();
        let (mut score, mut length, mut last, mut before) = (0, 0_i64, None, ' ');
        for c in text.chars().map(lower) {
            if next == Some(&c) {
                score += 1 + i64::from(!before.is_alphanumeric()) * 8;
                if last == Some(length - 1) {
                    score += 5;
                }
                if length == 0 {
                    score += 10;
                }
                last = Some(length);
                next = wanted.next();
            }
            before = c;
            length += 1;
        }
        // Of two that fit alike, the shorter one.
        next.is_none().then_some(score * 4 - length / 4)
    }
}

/// The small letter; of those that become several, the first.
fn lower(c: char) -> char {
    if c.is_ascii() {
        c.to_ascii_lowercase()
    } else {
        c.to_lowercase().next().unwrap_or(c)
    }
}

#[cfg(test)]
mod tests {
    use super::Typed;

    #[test]
    fn starts_of_words_and_runs_count_more_and_shorter_texts_win() {
        let score = |typed: &str, text: &str| Typed::new(typed).score(text);
        assert_eq!(score("", "anything"), Some(0));
        assert_eq!(score("xz", "zx"), None);
        assert_eq!(score("a", ""), None);
        assert!(score("Mg O", "MGO relax").is_some());
        for (typed, better, worse) in [
            ("rel", "relax", "re-evaluate"),
            ("vr", "vc-relax", "over"),
            ("mgo", "MgO", "MgO relax"),
            ("晶", "晶体", "x晶体"),
        ] {
            assert!(score(typed, better) > score(typed, worse), "{typed}");
        }
    }
}
