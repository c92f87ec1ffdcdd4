//! Structures by the name that a search gives them, like `embedded:periclase-MgO` or `local:3`.

use std::path::Path;

/// What a word names if it is no file: `provider:id`, or an id of the Materials Project.
///
/// A file that is there wins; a path with directories before the colon is a path.
#[must_use]
pub fn material_name(word: &Path) -> Option<&str> {
    let text = word.to_str()?;
    (is_material(text) && !word.exists()).then_some(text)
}

fn is_material(text: &str) -> bool {
    if let Some((provider, id)) = text.split_once(':') {
        let mut letters = provider.chars();
        return letters.next().is_some_and(|c| c.is_ascii_lowercase())
            && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !id.is_empty();
    }
    let id = text
        .strip_prefix("mp-")
        .or_else(|| text.strip_prefix("mvc-"));
    id.is_some_and(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::material_name;

    #[test]
    fn names_of_searches_are_told_from_paths() {
        for (word, named) in [
            ("embedded:AB_cF8_225_a_b", true),
            ("local:3", true),
            ("my_db2:1000041", true),
            ("files:/data/mgo.cif", true),
            ("mp-2657", true),
            ("mp-", false),
            ("mp-1.cif", false),
            ("mgo.cif", false),
            ("./a:b", false),
            ("C:data", false),
            (":x", false),
            ("embedded:", false),
        ] {
            assert_eq!(material_name(Path::new(word)).is_some(), named, "{word}");
        }
    }

    #[test]
    fn a_file_of_that_name_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mp-2657");
        std::fs::write(&file, "").unwrap();
        assert_eq!(material_name(&file), None);
    }
}
