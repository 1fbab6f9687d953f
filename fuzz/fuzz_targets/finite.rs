#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| statpriv_fuzz::targets::finite(bytes));
