//! Fuzzy matching: the letters of what is typed, in their order, anywhere in a text.

/// How well `text` fits what was typed; higher is better, `None` when it does not. Starts of words
/// and runs of letters count more.
#[must_use]
pub fn score(typed: &str, text: &str) -> Option<i64> {
    if typed.is_empty() {
        return Some(0);
    }
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let (mut score, mut at, mut last) = (0, 0, None);
    for c in typed
        .chars()
        .flat_map(char::to_lowercase)
        .filter(|c| *c != ' ')
    {
        let found = at + text[at..].iter().position(|other| *other == c)?;
        let start = found == 0 || !text[found - 1].is_alphanumeric();
        score += 1 + i64::from(start) * 8;
        if last.is_some_and(|last| last + 1 == found) {
            score += 5;
        }
        if found == 0 {
            score += 10;
        }
        last = Some(found);
        at = found + 1;
    }
    // Of two that fit alike, the shorter one.
    Some(score * 4 - i64::try_from(text.len()).unwrap_or(0) / 4)
}
