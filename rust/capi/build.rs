//! The shared library names the version of its interface, so that programs are linked to one that fits.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libstatpriv.so.1");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
