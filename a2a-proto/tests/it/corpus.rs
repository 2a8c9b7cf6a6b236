//! The fuzz targets over a fixed corpus, on every toolchain.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
mod targets;

type Target = fn(&[u8]);

#[test]
fn the_corpus_breaks_no_target() {
    let targets: [(&str, Target); 5] = [
        ("jsonrpc_request", targets::jsonrpc_request),
        ("protojson_card", targets::protojson_card),
        (
            "protojson_stream_response",
            targets::protojson_stream_response,
        ),
        ("rest_path", targets::rest_path),
        ("sse", targets::sse),
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus");
    for (name, target) in targets {
        let mut inputs = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            let input = fs::read(entry.unwrap().path()).unwrap();
            target(&input);
            // Cut and damaged inputs reach what whole ones do not.
            for place in (0..input.len()).step_by(1 + input.len() / 128) {
                target(&input[..place]);
                let mut damaged = input.clone();
                damaged[place] = damaged[place].wrapping_add(1);
                target(&damaged);
            }
            inputs += 1;
        }
        assert!(inputs > 4, "{name} has {inputs} inputs");
    }
}
