//! `abide-remote reflect` beside servers that are as they should be, and servers that are not.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "runs a program")]

mod server;
mod tls;

use std::process::{Command, Output};

use abide_transport::reflection::{Answer, ExtensionNumberResponse, PATHS, Question};
use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use tonic::Status;

use server::{Behaviour, Reply, Server, answer_from, file, list_services, not_found, send_files};

/// Runs the program with at most 2 GiB of address space, whatever a server sends.
fn run(args: &[&str]) -> Output {
    run_with(args, &[])
}

fn run_with(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -v 2097152; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_abide-remote"),
    ]);
    for name in ["CA", "CERT", "KEY", "SERVER_NAME", "HEADERS", "TIMEOUT", "MAX_SIZE"] {
        command.env_remove(format!("ABIDE_REMOTE_{name}"));
    }
    command.envs(variables.iter().copied());
    command.args(args).output().expect("it starts")
}

/// Reads the API of a server; the error is its only line.
fn reflect(server: &Server, args: &[&str]) -> Result<Vec<FileDescriptorProto>, String> {
    read(&run(&[&["reflect", &server.address], args].concat()))
}

fn read(ran: &Output) -> Result<Vec<FileDescriptorProto>, String> {
    let said = String::from_utf8(ran.stderr.clone()).expect("text");
    match ran.status.code() {
        Some(0) => Ok(FileDescriptorSet::decode(&*ran.stdout).expect("a set").file),
        Some(2) => {
            assert!(ran.stdout.is_empty(), "an error writes nothing else");
            assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
            Err(said)
        }
        other => panic!("it ends with {other:?}: {said}"),
    }
}

fn names(files: &[FileDescriptorProto]) -> Vec<&str> {
    files.iter().map(FileDescriptorProto::name).collect()
}

fn tree() -> Vec<FileDescriptorProto> {
    vec![
        file("acme/user.proto", &["acme/type.proto", "google/protobuf/timestamp.proto"], "Users"),
        file("acme/type.proto", &[], ""),
        file("acme/shop.proto", &["acme/type.proto"], "Shops"),
        file("acme/unused.proto", &[], ""),
    ]
}

fn shown() -> Vec<&'static str> {
    vec!["acme/type.proto", "acme/shop.proto", "acme/user.proto"]
}

/// An error that says this, of a server that behaves so.
fn refuses(behaviour: Behaviour, args: &[&str], says: &str) {
    let error = reflect(&Server::start(behaviour), args).expect_err("it is refused");
    assert!(error.contains(says), "{error}");
}

#[test]
fn both_versions_of_the_service_give_each_file_after_its_imports() {
    let all = Behaviour::of_files(tree());
    for paths in [PATHS.to_vec(), vec![PATHS[0]], vec![PATHS[1]]] {
        let server = Server::start(Behaviour { paths, ..all.clone() });
        let files = reflect(&server, &[]).expect("it is read");
        assert_eq!(names(&files), shown());
        assert!(files.iter().all(|it| tree().contains(it)), "files are as the server sent them");
    }
}

#[test]
fn answers_with_all_imports_and_other_orders_give_the_same_set() {
    let (mut backwards, all) = (tree(), tree());
    backwards.reverse();
    let closure = Behaviour::new(move |question| match answer_from(&backwards, question) {
        Answer::Files(_) => Reply::Answer(send_files(&all.iter().collect::<Vec<_>>()[..3])),
        answer => Reply::Answer(answer),
    });
    let sets = [Behaviour::of_files(tree()), closure]
        .map(|behaviour| run(&["reflect", &Server::start(behaviour).address]).stdout);
    assert!(!sets[0].is_empty());
    assert_eq!(sets[0], sets[1]);
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.binpb");
    let out = path.to_str().unwrap();
    let server = Server::start(Behaviour::of_files(tree()));
    assert_eq!(reflect(&server, &["-o", out]), Ok(Vec::new()), "nothing goes to standard output");
    let written = std::fs::read(&path).unwrap();
    assert_eq!(names(&FileDescriptorSet::decode(&*written).unwrap().file), shown());
    let broken = Server::start(Behaviour::new(|_| Reply::End));
    reflect(&broken, &["-o", out]).expect_err("it is refused");
    assert_eq!(std::fs::read(&path).unwrap(), written, "what was there stays");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    let nowhere = folder.path().join("no/api.binpb");
    let error = reflect(&server, &["-o", nowhere.to_str().unwrap()]).expect_err("no such folder");
    assert!(error.contains("cannot write"), "{error}");
}

#[test]
fn what_the_server_lacks_is_named() {
    let files = vec![file("a.proto", &["gone.proto", "google/protobuf/any.proto"], "A")];
    let server = Server::start(Behaviour::new(move |question| {
        Reply::Answer(match answer_from(&files, question) {
            Answer::Services(_) => {
                let names = ["acme.v1.A", "acme.v1.Hidden", "grpc.reflection.v1.ServerReflection"];
                list_services(names.map(str::to_owned))
            }
            answer => answer,
        })
    }));
    let ran = run(&["reflect", &server.address]);
    let said = String::from_utf8(ran.stderr.clone()).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("no descriptors of `acme.v1.Hidden`, so"), "{said}");
    assert!(lines[1].ends_with("`gone.proto`") && lines.len() == 2, "{said}");
    assert!(lines.iter().all(|it| it.starts_with("note: ")), "{said}");
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn servers_without_reflection_or_without_services_are_errors_that_say_what_to_do() {
    let none = Behaviour { paths: Vec::new(), ..Behaviour::of_files(tree()) };
    refuses(none, &[], "does not offer reflection: register grpc.reflection.v1");
    refuses(Behaviour::of_files(Vec::new()), &[], "names no service");
    let hidden = Behaviour::new(|question| match question {
        Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
        _ => Reply::Answer(not_found()),
    });
    refuses(hidden, &[], "no descriptors of any service that it names (`a.B`)");
    let closed = Behaviour::new(|_| Reply::Status(Status::unauthenticated("who\nis\x1b[31m it?")));
    refuses(closed, &[], "refuses: who is [31m it?; show who you are with --header");
}

#[test]
fn nobody_who_listens_and_other_languages_are_named() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let error = read(&run(&["reflect", &port.to_string()])).expect_err("nobody is there");
    assert!(error.contains("refused") && error.contains("; is the server running"), "{error}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || {
        use std::io::Write;
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    });
    read(&run(&["reflect", &address, "--timeout", "100s"])).expect_err("no HTTP/2");
    answering.join().unwrap();
}

#[test]
fn a_silent_server_ends_with_the_time() {
    for args in [vec!["--timeout", "50ms"], vec!["--timeout=1ms"]] {
        refuses(Behaviour::new(|_| Reply::Silence), &args, "did not answer within");
    }
    let server = Server::start(Behaviour::new(|_| Reply::Silence));
    let ran = run_with(&["reflect", &server.address], &[("ABIDE_REMOTE_TIMEOUT", "50ms")]);
    assert!(read(&ran).expect_err("it is silent").contains("within 50ms"));
    let ran = run_with(&["reflect", &server.address], &[("ABIDE_REMOTE_TIMEOUT", "soon")]);
    assert!(read(&ran).expect_err("no time").contains("ABIDE_REMOTE_TIMEOUT is not usable"));
}

#[test]
fn answers_that_are_none_are_refused() {
    refuses(Behaviour::new(|_| Reply::End), &[], "ended the stream before it answered");
    refuses(Behaviour::new(|_| Reply::Nothing), &[], "a response has no answer");
    let numbers = || Answer::ExtensionNumbers(ExtensionNumberResponse::default());
    let other = Behaviour::new(move |_| Reply::Answer(numbers()));
    refuses(other, &[], "names no services when it is asked");
    let wrong = Behaviour::new(move |question| match question {
        Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
        _ => Reply::Answer(numbers()),
    });
    refuses(wrong, &[], "sends something else when it is asked for a file");
    let malformed = Behaviour::new(|question| match question {
        Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
        _ => {
            let mut answer = abide_transport::reflection::FileDescriptorResponse::default();
            answer.file_descriptor_proto.push(vec![0x0a, 0xff, 0xff]);
            Reply::Answer(Answer::Files(answer))
        }
    });
    refuses(malformed, &[], "one is not a FileDescriptorProto");
}

#[test]
fn files_that_hang_together_in_no_way_are_refused() {
    let circle = [
        file("a.proto", &["b.proto"], "A"),
        file("b.proto", &["c.proto"], ""),
        file("c.proto", &["b.proto"], ""),
    ];
    let says = "in a circle: b.proto -> c.proto -> b.proto";
    refuses(Behaviour::of_files(circle.to_vec()), &[], says);
    let two = [file("a.proto", &[], "A"), file("a.proto", &[], "B")];
    refuses(Behaviour::of_files(two.to_vec()), &[], "two different files with the name `a.proto`");
}

#[test]
fn endless_imports_end_at_the_limit() {
    let endless = Behaviour::new(|question| match question {
        Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
        Question::FileByFilename(path) => {
            let next = format!("{}.proto", path.trim_end_matches(".proto").len() + 1);
            let longer = format!("{}{next}", path.trim_end_matches(".proto"));
            Reply::Answer(send_files(&[&file(path, &[&longer], "")]))
        }
        _ => Reply::Answer(send_files(&[&file("a.proto", &["b.proto"], "B")])),
    });
    refuses(endless, &["--max-size", "200KiB"], "more than 204800 bytes; allow more");
}

#[test]
fn huge_files_and_floods_cost_bounded_memory() {
    let huge = |length: usize| {
        let mut file = file("a.proto", &[], "A");
        file.service[0].name = Some("A".repeat(length));
        Behaviour::new(move |question| match question {
            Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
            _ => Reply::Answer(send_files(&[&file])),
        })
    };
    refuses(huge(64 << 20), &[], "--max-size");
    refuses(huge(2 << 20), &["--max-size", "1MiB"], "--max-size");
    let crowd = Behaviour::new(|_| Reply::Answer(list_services(vec![String::new(); 4 << 20])));
    refuses(crowd, &[], "names no service");
    // A message of two bytes for each file that it holds.
    let dense = Behaviour::new(|question| match question {
        Question::ListServices(_) => Reply::Answer(list_services(["a.B".to_owned()])),
        _ => {
            let answer = abide_transport::reflection::FileDescriptorResponse {
                file_descriptor_proto: vec![Vec::new(); (8 << 20) - 64],
            };
            Reply::Answer(Answer::Files(answer))
        }
    });
    refuses(dense, &[], "one has no name");
    let flood = Server::start(Behaviour::new(|question| match question {
        Question::ListServices(_) => {
            Reply::Flood(list_services(["grpc.reflection.v1.ServerReflection".to_owned()]))
        }
        _ => Reply::End,
    }));
    reflect(&flood, &[]).expect_err("there is no service");
}

#[test]
fn headers_come_from_the_command_line_and_else_from_the_environment() {
    let server = Server::start(Behaviour::of_files(tree()));
    let variables = [("ABIDE_REMOTE_HEADERS", "authorization: of the environment\nx-other=1\n")];
    let asked = ["reflect", &server.address];
    read(&run_with(&asked, &variables)).expect("it is read");
    let header = ["--header", "Authorization: of the line"];
    read(&run_with(&[&asked[..], &header].concat(), &variables)).expect("it is read");
    let kept = server.authorizations.lock().unwrap().clone();
    assert_eq!(kept, ["of the environment", "of the line"]);
}

#[test]
fn help_teaches_and_mistakes_are_explained() {
    let help = run(&["reflect", "--help"]);
    let text = String::from_utf8(help.stdout).unwrap();
    for part in ["Examples:", "Exit status:", "--max-size", "ABIDE_REMOTE_CA", "grpcs://"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (args, says) in [
        (vec!["reflect", "localhost"], "it has no port: write it as HOST:PORT"),
        (vec!["reflect", "localhost:1", "--ca", "a.pem"], "add --tls"),
        (vec!["reflect", "localhost:1", "--header", "x"], "write it as `NAME: VALUE`"),
        (vec!["reflect", "localhost:1", "--timeout", "soon"], "write it like `90s`"),
        (vec!["reflekt", "localhost:1"], "reflect"),
    ] {
        let ran = run(&args);
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
    let page = String::from_utf8(run(&["man"]).stdout).unwrap();
    assert!(page.contains(".TH abide-remote 1") && page.contains("ABIDE_REMOTE_CA"), "{page}");
    let completions = run(&["completions", "bash"]).stdout;
    assert!(String::from_utf8(completions).unwrap().contains("--max-size"));
}
