//! The modules of the crate lie in layers, and each uses modules of lower layers only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest layer on. Modules of one layer do not use each other, so there is no circle.
const LAYERS: &[&[&str]] = &[
    &["budget", "error"],
    &["interrupt"],
    &["numbers"],
    &["laws"],
    &["convolve", "digits", "exact", "fourier"],
    &["answer"],
    &["forms"],
    &["adaptive", "composition", "curve"],
    &["inverse", "trade_off"],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The module that the file at this path of the crate belongs to.
fn module(path: &Path) -> String {
    let first = path.components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The code without comments and without items for tests, and the names of modules that only tests have.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let (mut code, mut only_tests) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.push_str(line.split("//").next().unwrap_or(""));
            code.push('\n');
            continue;
        }
        let item = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")).unwrap();
        if let Some(name) = item.trim_end().strip_suffix(';').and_then(|item| item.rsplit_once("mod ")) {
            only_tests.push(name.1.to_owned());
        }
        let indent = &item[..item.len() - item.trim_start().len()];
        let is_whole =
            item.trim_end().ends_with(';') || item.matches('{').count() == item.matches('}').count();
        if !is_whole {
            lines
                .by_ref()
                .find(|line| line.starts_with(indent) && line.trim_end() == format!("{indent}}}"))
                .unwrap();
        }
    }
    (code, only_tests)
}

/// The code of the crate by file.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, String>, only_tests: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found, only_tests);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let (code, names) = without_tests(&fs::read_to_string(&path).unwrap());
            let is_root = path == source().join("lib.rs");
            let children = if is_root { source() } else { path.with_extension("") };
            only_tests.extend(names.iter().map(|name| children.join(name)));
            found.insert(path, code);
        }
    }
}

/// For each module the modules that it uses, with a file that does.
fn arrows() -> BTreeMap<(String, String), PathBuf> {
    let (mut found, mut only_tests) = (BTreeMap::new(), BTreeSet::new());
    files(&source(), &mut found, &mut only_tests);
    let mut arrows = BTreeMap::new();
    for (path, code) in found {
        let stem = path.with_extension("");
        if stem.ancestors().any(|folder| only_tests.contains(folder)) || stem.ends_with("lib") {
            continue;
        }
        let inside = path.strip_prefix(source()).unwrap().to_owned();
        let from = module(&inside);
        for path in code.split("crate::").skip(1) {
            assert!(!path.starts_with('{'), "{}: one use of the crate for each module", inside.display());
            let used: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if used != from {
                arrows.entry((from.clone(), used)).or_insert_with(|| inside.clone());
            }
        }
    }
    arrows
}

#[test]
fn modules_use_modules_of_lower_layers_only() {
    let layer = |module: &str| {
        let found = LAYERS.iter().position(|layer| layer.contains(&module));
        found.unwrap_or_else(|| panic!("{module} has no layer"))
    };
    let arrows = arrows();
    assert!(arrows.len() > 40, "only {} arrows were found", arrows.len());
    let upward: Vec<String> = arrows
        .iter()
        .filter(|((user, used), _)| layer(used) >= layer(user))
        .map(|((user, used), file)| format!("{user} uses {used} in {}", file.display()))
        .collect();
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn every_module_has_a_layer() {
    let library = fs::read_to_string(source().join("lib.rs")).unwrap();
    let (code, _) = without_tests(&library);
    let modules: BTreeSet<&str> = code
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';')?.rsplit_once("mod ").map(|(_, name)| name))
        .collect();
    let in_layers: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(modules, in_layers);
}

/// The reader of sources sees what it looks for.
#[test]
fn test_code_and_comments_are_left_out() {
    let text = "use crate::numbers::ball; // crate::curve\n#[cfg(test)]\nmod same_bits;\nfn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::curve;\n}\nuse crate::laws;\n";
    let (code, only_tests) = without_tests(text);
    assert_eq!(only_tests, ["same_bits"]);
    assert!(code.contains("crate::numbers") && code.contains("crate::laws") && !code.contains("curve"));
}
