//! The arguments of `abide calendar`.

use clap::{Args, Subcommand};

use super::common::{TreeArgs, parse_date};
use crate::render::{CALENDARS, CalendarFormat, SIMULATIONS, SimulationFormat, parse_format};

pub(super) const HELP: &str = "\
Examples:
  abide calendar                         the next releases, and what happens to old elements
  abide calendar --as-of 2027-06-30      the same on another day
  abide calendar simulate --notice 12    how many majors a fleet needs at once
  abide help calendar simulate           more about the simulation";

const SIMULATE: &str = "\
A client speaks the newest major of the day on which it was released. A fleet with a notice \
period of N months may hold every client release of the last N months, so it needs each of their \
majors. Without a notice period, all clients are updated together. The result says how this was \
counted, and from which keys of [calendar].

It also prints the bounds that follow from the policy: how long a deprecated element stays, how \
long the previous major is supported, and how long a major lives.

Examples:
  abide calendar simulate --notice 12                      one year of notice
  abide calendar simulate --notice 12 --major-every 3      if majors were quarterly
  abide calendar simulate --package acme.user.v1           the life of a package
  abide calendar simulate --element acme.user.v1.User.name --from 2026-05-01
  abide calendar simulate --format html --output life.html";

/// Arguments of `abide calendar`.
#[derive(Args, Debug)]
pub(crate) struct CalendarArgs {
    /// A command of its own, besides the report.
    #[command(subcommand)]
    pub(crate) simulate: Option<CalendarCommand>,
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The format of the calendar
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(CALENDARS))]
    pub(crate) format: &'static CalendarFormat,
}

/// The commands below `abide calendar`.
#[derive(Debug, Subcommand)]
pub(crate) enum CalendarCommand {
    /// Compute how many majors must be served at once, and the life of an element or a package
    #[command(after_help = SIMULATE)]
    Simulate(SimulateArgs),
}

/// Arguments of `abide calendar simulate`.
#[derive(Args, Debug)]
pub(crate) struct SimulateArgs {
    /// The tree.
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The first day [default: --as-of, else today]
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub(crate) from: Option<jiff::civil::Date>,
    /// How many years to show
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) years: u32,
    /// How many months a client may stay in the fleet after its release
    #[arg(long, value_name = "MONTHS", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=240))]
    pub(crate) notice: u32,
    /// Assume a new major every so many months [default: at each API release of the policy]
    #[arg(long, value_name = "MONTHS", value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) major_every: Option<u32>,
    /// Show the life of this element; if it is not deprecated, as if it became so on the first day
    #[arg(long, value_name = "NAME", conflicts_with = "package")]
    pub(crate) element: Option<String>,
    /// Show the life of this package
    #[arg(long, value_name = "NAME")]
    pub(crate) package: Option<String>,
    /// The format of the simulation
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = parse_format(SIMULATIONS))]
    pub(crate) format: &'static SimulationFormat,
}
