//! Base64 of RFC 4648, with padding: the terminal's clipboard and pictures from the daemon.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as text.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            if index <= chunk.len() {
                let letter = group >> (18 - 6 * index) & 63;
                text.push(char::from(LETTERS[letter as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// The bytes of a text; `None` where it is none of these.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut groups = text.as_bytes().chunks(4).peekable();
    while let Some(group) = groups.next() {
        let padding = group.iter().rev().take_while(|c| **c == b'=').count();
        if group.len() != 4 || padding > 2 || (padding > 0 && groups.peek().is_some()) {
            return None;
        }
        let mut value = 0_u32;
        for letter in &group[..4 - padding] {
            let six = LETTERS.iter().position(|known| known == letter)?;
            value = value << 6 | u32::try_from(six).ok()?;
        }
        value <<= 6 * padding;
        bytes.extend_from_slice(&value.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn base64_as_in_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).as_deref(), Some(plain.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn what_is_no_base64_is_told() {
        for text in ["Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9*", "Zm 9"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
