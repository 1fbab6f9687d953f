//! Write the header of the C door, or with `--check` see whether the one that is there is it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = folder.join("include/statpriv.h");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml is read");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/lib.rs"))
        .generate()
        .expect("the sources are read");
    let mut header = Vec::new();
    bindings.write(&mut header);
    // What Rust calls safety is what C requires of every caller.
    let header = String::from_utf8_lossy(&header).replace("# Safety", "Required:").into_bytes();
    if std::env::args().any(|argument| argument == "--check") {
        let same = std::fs::read(&path).is_ok_and(|stored| stored == header);
        if !same {
            eprintln!("{} is not what the sources say: make header", path.display());
        }
        return if same { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    std::fs::write(&path, header).expect("the header is written");
    ExitCode::SUCCESS
}
