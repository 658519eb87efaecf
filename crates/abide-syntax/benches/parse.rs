//! Lexer and parser alone: `cargo bench -p abide-syntax`.

mod generated;

use std::hint::black_box;

use abide_syntax::{Lexer, TokenKind, parse};
use criterion::{Criterion, Throughput};

fn main() {
    let tree = generated::tree();
    let text: String = tree.iter().map(|(_, text)| text.as_str()).collect();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("syntax");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("lex", |bencher| {
        bencher.iter(|| {
            let mut lexer = Lexer::new(text.as_bytes(), 0);
            let mut tokens = 0;
            while black_box(lexer.next_token()).kind != TokenKind::End {
                tokens += 1;
            }
            tokens
        });
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            tree.iter().map(|(_, text)| parse(text.as_bytes()).0.decls.len()).sum::<usize>()
        });
    });
    group.finish();
    criterion.final_summary();
}
