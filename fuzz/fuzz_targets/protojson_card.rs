#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| a2a_fuzz::protojson_card(data));
