//! Members of etcd, each a process of its own.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use abide_harness::Result;

use crate::serving::processes::free_port;
use crate::serving::wait_until;

/// A store with one or more members. They end when this is dropped.
pub(super) struct Etcd {
    members: Vec<Member>,
    /// What `etcdctl` needs besides addresses.
    secrets: Vec<String>,
}

struct Member {
    name: String,
    args: Vec<String>,
    log: PathBuf,
    client: u16,
    child: Option<Child>,
}

impl Etcd {
    /// Starts members in a folder, and waits until they serve. `flags` are for each of them,
    /// `secrets` for `etcdctl`; `scheme` is how clients reach them.
    pub(super) fn start(
        folder: &Path,
        members: usize,
        scheme: &str,
        flags: &[String],
        secrets: &[String],
    ) -> Result<Etcd> {
        let mut ports = Vec::new();
        for number in 0..members {
            ports.push((format!("m{number}"), free_port()?, free_port()?));
        }
        let all = ports.iter().map(|(name, _, peer)| format!("{name}=http://127.0.0.1:{peer}"));
        let all = all.collect::<Vec<_>>().join(",");
        let mut etcd = Etcd { members: Vec::new(), secrets: secrets.to_vec() };
        for (name, client, peer) in ports {
            let client_url = format!("{scheme}://127.0.0.1:{client}");
            let peer_url = format!("http://127.0.0.1:{peer}");
            let data = folder.join(&name).display().to_string();
            let mut args: Vec<String> = [
                ["--name", &name],
                ["--data-dir", &data],
                ["--listen-client-urls", &client_url],
                ["--advertise-client-urls", &client_url],
                ["--listen-peer-urls", &peer_url],
                ["--initial-advertise-peer-urls", &peer_url],
                ["--initial-cluster", &all],
                ["--logger", "zap"],
            ]
            .concat()
            .iter()
            .map(|&it| it.to_owned())
            .collect();
            args.extend_from_slice(flags);
            let log = folder.join(format!("{name}.log"));
            etcd.members.push(Member { name, args, log, client, child: None });
        }
        for number in 0..members {
            etcd.begin(number)?;
        }
        wait_until("etcd serves", || etcd.control(&["endpoint", "health"], "").ok())?;
        Ok(etcd)
    }

    /// Starts a member that does not run.
    pub(super) fn begin(&mut self, number: usize) -> Result<()> {
        let member = &mut self.members[number];
        let log = File::options().create(true).append(true).open(&member.log)?;
        let mut command = Command::new("etcd");
        command.args(&member.args).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let started = command.spawn().map_err(|error| {
            format!("{error}: no `etcd`, run `apt-get install etcd-server etcd-client`")
        });
        member.child = Some(started?);
        Ok(())
    }

    /// Kills a member at once.
    pub(super) fn kill(&mut self, number: usize) -> Result<()> {
        if let Some(mut child) = self.members[number].child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Moves a member that does not run to another port. Returns the one before.
    pub(super) fn move_to(&mut self, number: usize, port: u16) -> u16 {
        let member = &mut self.members[number];
        let (old, new) = (format!("127.0.0.1:{}", member.client), format!("127.0.0.1:{port}"));
        member.args.iter_mut().for_each(|it| *it = it.replace(&old, &new));
        std::mem::replace(&mut member.client, port)
    }

    pub(super) fn port(&self, number: usize) -> u16 {
        self.members[number].client
    }

    /// The source of resources below a prefix.
    pub(super) fn source(&self, prefix: &str) -> String {
        format!("etcd:{}/{prefix}", self.addresses(|_| true))
    }

    fn addresses(&self, wanted: impl Fn(&Member) -> bool) -> String {
        let wanted = self.members.iter().filter(|it| wanted(it));
        wanted.map(|it| format!("127.0.0.1:{}", it.client)).collect::<Vec<_>>().join(",")
    }

    /// What `etcdctl` prints, asked of the members that run.
    pub(super) fn control(&self, args: &[&str], input: &str) -> Result<String> {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3");
        command.args(["--endpoints", &self.addresses(|it| it.child.is_some())]);
        command.args(&self.secrets).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("etcdctl {}: {said}", args.join(" ")).into())
            }
        }
    }

    /// Logs in as this user from now on.
    pub(super) fn log_in(&mut self, user: &str) {
        self.secrets.extend(["--user".to_owned(), user.to_owned()]);
    }

    /// Sets a key.
    pub(super) fn put(&self, key: &str, value: &str) -> Result<()> {
        self.control(&["put", key], value).map(drop)
    }

    /// The number of the member that leads.
    pub(super) fn leader(&self) -> Result<usize> {
        let text = self.control(&["endpoint", "status", "-w", "json"], "")?;
        let all: serde_json::Value = serde_json::from_str(&text)?;
        let leads =
            |it: &&serde_json::Value| it["Status"]["header"]["member_id"] == it["Status"]["leader"];
        let leader = all.as_array().and_then(|it| it.iter().find(leads)).ok_or("nobody leads")?;
        let address = leader["Endpoint"].as_str().unwrap_or_default();
        let is_it = |it: &Member| address.ends_with(&format!(":{}", it.client));
        Ok(self.members.iter().position(is_it).ok_or("somebody else leads")?)
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for member in &mut self.members {
            if let Some(child) = &mut member.child {
                let _ = child.kill();
                if child.wait().is_err() {
                    println!("sources: {} did not end", member.name);
                }
            }
        }
    }
}
