//! Declared steps: `Migration` messages of `api/abide/migration/v1`, understood.

use std::collections::{BTreeMap, HashMap};

use abide_schema::value::{Entry, Message};
use abide_schema::{Field, MessageId, Tree, Type};
use abide_syntax::Span;

use super::builtin_protos::{Fault, own_api, read};
use super::path::{List, Path, Refused};
use super::type_mapping::Succession;
use crate::Notation;
use crate::readers::{entries_of, of_value};

/// A file with steps, read but not yet applied to an API.
#[derive(Clone, Debug)]
pub struct Migration {
    value: Message,
}

impl Migration {
    /// Reads a file with steps, one or many documents.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(text: &[u8], notation: Notation) -> Result<Vec<Migration>, Fault> {
        let values = read("abide.migration.v1.Migration", text, notation)?;
        Ok(values.into_iter().map(|value| Migration { value }).collect())
    }
}

/// What happens to the values of one message.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) up: bool,
    pub(super) down: Down,
    pub(super) when: Vec<Condition>,
    pub(super) moves: Vec<Move>,
    pub(super) settings: Vec<Setting>,
    pub(super) drop: Vec<String>,
    pub(super) configured: Option<Configured>,
    /// Why values mean something else after it.
    pub(super) lossy: Option<String>,
    /// What clients list that do not need the step.
    pub(super) feature: Option<String>,
}

/// Whether a step is taken downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Down {
    Never,
    /// Where the older version lacks what the step makes.
    IfNeeded,
    Always,
}

#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) field: String,
    /// The value of the field.
    pub(super) is: Option<Vec<Entry>>,
    /// Without a value: whether the field is set.
    pub(super) is_set: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) from: Path,
    pub(super) to: Path,
    /// Pairs of values, in the types of the two fields; empty if values stay as they are.
    pub(super) values: Vec<(Entry, Entry)>,
    pub(super) cut: Option<Cut>,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) at: String,
    pub(super) is_second: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) path: Path,
    pub(super) source: Source,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    Constant(Vec<Entry>),
    CopyOf(Path),
}

#[derive(Clone, Debug)]
pub(super) struct Configured {
    pub(super) name: Option<String>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: String,
}

/// An extension, under one of its names.
#[derive(Clone, Debug)]
pub(super) struct Extension {
    kinds: Vec<String>,
    pub(super) name: String,
    pub(super) ty: Option<MessageId>,
    pub(super) always_configured: bool,
}

/// All steps, by the message of the older version.
#[derive(Debug, Default)]
pub(super) struct Steps {
    by_message: HashMap<MessageId, Vec<Step>>,
    extensions: BTreeMap<String, Vec<Extension>>,
}

impl Steps {
    /// Understands steps for an API. Steps of messages that it lacks are left out: a file may be
    /// for more than one release.
    pub(super) fn of(
        tree: &Tree,
        succession: &Succession<'_>,
        migrations: &[Migration],
    ) -> Result<Steps, Fault> {
        let mut steps = Steps::default();
        for migration in migrations {
            let value = &migration.value;
            for entry in value.get_all(own_api(), "steps") {
                let Some(step) = entry.value.as_message() else { continue };
                let place = step.get(own_api(), "message").map_or(entry.span, |it| it.span);
                let name = step.get_str(own_api(), "message").unwrap_or_default();
                let Some(old) = tree.message_named(name) else { continue };
                let new = succession.next_of(old.id).unwrap_or(old.id);
                let reader = StepReader { tree, old: old.id, new };
                let read = reader.step(step);
                let read = read.map_err(|message| Fault { span: place, message })?;
                steps.by_message.entry(old.id).or_default().push(read);
            }
            for entry in value.get_all(own_api(), "extensions") {
                if let Some(extension) = entry.value.as_message() {
                    steps.add_extension(tree, extension);
                }
            }
        }
        Ok(steps)
    }

    fn add_extension(&mut self, tree: &Tree, value: &Message) {
        let own = own_api();
        let texts = |name| value.get_all(own, name).filter_map(|it| it.value.as_str());
        let name = value.get_str(own, "name").unwrap_or_default().to_owned();
        let ty = value.get_str(own, "type").and_then(|it| tree.message_named(it)).map(|it| it.id);
        let extension = Extension {
            kinds: texts("kinds").map(str::to_owned).collect(),
            name: name.clone(),
            ty,
            always_configured: value.get_bool(own, "always_configured") == Some(true),
        };
        for name in texts("old_names").map(str::to_owned).chain([name]) {
            self.extensions.entry(name).or_default().push(extension.clone());
        }
    }

    /// The steps of a message of the older version.
    pub(super) fn of_message(&self, message: MessageId) -> &[Step] {
        self.by_message.get(&message).map_or(&[], Vec::as_slice)
    }

    /// The features that steps name.
    pub(super) fn features(&self) -> impl Iterator<Item = &str> {
        self.by_message.values().flatten().filter_map(|it| it.feature.as_deref())
    }

    /// The extension with a name, new or old, that may stand in a part of the API.
    pub(super) fn extension(&self, name: &str, kind: &str) -> Option<&Extension> {
        let fits = |it: &&Extension| it.kinds.is_empty() || it.kinds.iter().any(|it| it == kind);
        self.extensions.get(name)?.iter().find(fits)
    }
}

/// Reads the steps of one message.
struct StepReader<'t> {
    tree: &'t Tree,
    old: MessageId,
    new: MessageId,
}

impl<'t> StepReader<'t> {
    fn step(&self, value: &Message) -> Result<Step, Refused> {
        let own = own_api();
        let messages = |name| value.get_all(own, name).filter_map(|it| it.value.as_message());
        let (up, down) = match value.get_i64(own, "direction").unwrap_or(0) {
            1 => (true, Down::Never),
            2 => (false, Down::Always),
            _ => (true, Down::IfNeeded),
        };
        let dropped = value.get_all(own, "drop").filter_map(|it| it.value.as_str());
        let drop: Vec<String> = dropped.map(str::to_owned).collect();
        for name in &drop {
            self.old_field(name)?;
        }
        Ok(Step {
            up,
            down,
            when: messages("when").map(|it| self.condition(it)).collect::<Result<_, _>>()?,
            moves: messages("moves").map(|it| self.moved(it)).collect::<Result<_, _>>()?,
            settings: messages("settings").map(|it| self.setting(it)).collect::<Result<_, _>>()?,
            drop,
            configured: value
                .get_message(own, "configured")
                .map(|it| self.configured(it))
                .transpose()?,
            lossy: value.get_str(own, "lossy").filter(|it| !it.is_empty()).map(str::to_owned),
            feature: value.get_str(own, "feature").filter(|it| !it.is_empty()).map(str::to_owned),
        })
    }

    fn old_field(&self, path: &str) -> Result<(Path, Field<'t>), Refused> {
        let path = Path::parse(path)?;
        if path.segments.iter().any(|it| it.list != List::Plain || it.content.is_some()) {
            return Err("a path in the older message has names and dots only".to_owned());
        }
        let (field, _) = path.resolve(self.tree, self.old)?;
        Ok((path, field))
    }

    fn constant(&self, field: Field<'t>, value: &Message) -> Result<Vec<Entry>, Refused> {
        let node = of_value(own_api(), value, Span::default());
        entries_of(self.tree, field, node)
            .map_err(|why| format!("the value of `{}` is none: {why}", field.full_name()))
    }

    fn condition(&self, value: &Message) -> Result<Condition, Refused> {
        let name = value.get_str(own_api(), "field").unwrap_or_default();
        let (_, field) = self.old_field(name)?;
        let is = value.get_message(own_api(), "is").map(|it| self.constant(field, it));
        let is_set = value.get_bool(own_api(), "set") == Some(true);
        Ok(Condition { field: name.to_owned(), is: is.transpose()?, is_set })
    }

    fn moved(&self, value: &Message) -> Result<Move, Refused> {
        let own = own_api();
        let (from, old) = self.old_field(value.get_str(own, "from").unwrap_or_default())?;
        let to = Path::parse(value.get_str(own, "to").unwrap_or_default())?;
        let (new, content) = to.resolve(self.tree, self.new)?;
        let pairs = value.get_all(own, "values").filter_map(|it| it.value.as_message());
        let values = pairs.map(|pair| {
            let side = |name, field| match pair.get_message(own, name) {
                None => Err(format!("a pair of values of `{}` lacks one", old.full_name())),
                Some(value) => {
                    let mut entries = self.constant(field, value)?;
                    entries.pop().ok_or_else(|| "a list is no value".to_owned())
                }
            };
            Ok((side("old", old)?, side("new", new)?))
        });
        let values: Vec<(Entry, Entry)> = values.collect::<Result<_, Refused>>()?;
        let is_message = |field: Field<'_>| field.message_type().is_some();
        let is_scalar = |it: Type| matches!(it, Type::Scalar(_));
        let is_same = value.get_str(own, "cut_at").is_some()
            || !is_scalar(old.ty()) && !is_scalar(new.ty())
            || old.ty() == new.ty();
        let fits = content.is_some() && is_message(old)
            || content.is_none() && is_message(old) == is_message(new) && is_same;
        if values.is_empty() && !fits {
            let (old, new) = (old.full_name(), new.full_name());
            return Err(format!("the values of `{old}` are no values of `{new}`"));
        }
        let cut = value
            .get_str(own, "cut_at")
            .filter(|it| !it.is_empty())
            .map(|at| Cut { at: at.to_owned(), is_second: value.get_i64(own, "part") == Some(2) });
        Ok(Move { from, to, values, cut })
    }

    fn setting(&self, value: &Message) -> Result<Setting, Refused> {
        let own = own_api();
        let path = Path::parse(value.get_str(own, "path").unwrap_or_default())?;
        let (field, content) = path.resolve(self.tree, self.new)?;
        if content.is_some() {
            return Err("a path of a setting ends with a field".to_owned());
        }
        let source = match (value.get_message(own, "value"), value.get_str(own, "copy_of")) {
            (Some(constant), _) => Source::Constant(self.constant(field, constant)?),
            (None, Some(name)) => Source::CopyOf(self.old_field(name)?.0),
            (None, None) => return Err("a setting has a value or is a copy".to_owned()),
        };
        Ok(Setting { path, source })
    }

    fn configured(&self, value: &Message) -> Result<Configured, Refused> {
        let own = own_api();
        let text = |name| value.get_str(own, name).unwrap_or_default().to_owned();
        let (name, from, to) = (text("name"), text("from"), text("to"));
        self.old_field(&from)?;
        Path::parse(&to)?.resolve(self.tree, self.new)?;
        if !name.is_empty() {
            self.old_field(&name)?;
        }
        let name = Some(name).filter(|it| !it.is_empty());
        Ok(Configured { name, from, to, kind: text("kind") })
    }
}
