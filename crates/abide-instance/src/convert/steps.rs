//! Declared steps: `Migration` messages of `api/abide/migration/v1`, understood.

use std::collections::{BTreeMap, HashMap};

use abide_schema::value::{Entry, Message};
use abide_schema::{Field, MessageId, Tree, Type};
use abide_syntax::Span;

use super::builtin_protos::{DeclarationError, get_builtin_protos, read_builtin_values};
use super::path::{FieldPath, ListPart, RefusalReason};
use super::type_mapping::TypeMapping;
use crate::Notation;
use crate::readers::{read_entries, value_to_json};

/// A file with steps, read but not yet applied to an API.
#[derive(Clone, Debug)]
pub struct MigrationFile {
    value: Message,
}

impl MigrationFile {
    /// Reads a file with steps, one or many documents.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(text: &[u8], notation: Notation) -> Result<Vec<MigrationFile>, DeclarationError> {
        let values = read_builtin_values("abide.migration.v1.Migration", text, notation)?;
        Ok(values.into_iter().map(|value| MigrationFile { value }).collect())
    }
}

/// The steps for the values of one message.
#[derive(Clone, Debug)]
pub(super) struct MigrationStep {
    pub(super) up: bool,
    pub(super) down: DownwardUse,
    pub(super) when: Vec<StepCondition>,
    pub(super) moves: Vec<StepMove>,
    pub(super) settings: Vec<StepSetting>,
    pub(super) drop: Vec<String>,
    pub(super) configured: Option<ConfiguredExtension>,
    /// The reason for a changed meaning of values.
    pub(super) lossy: Option<String>,
    /// The client feature that makes the step unnecessary.
    pub(super) feature: Option<String>,
}

/// True if a step is taken downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DownwardUse {
    Never,
    /// The span of something that the step makes and the older version lacks.
    IfNeeded,
    Always,
}

#[derive(Clone, Debug)]
pub(super) struct StepCondition {
    pub(super) field: String,
    /// The value of the field.
    pub(super) is: Option<Vec<Entry>>,
    /// Without a value: whether the field is set.
    pub(super) is_set: bool,
}

#[derive(Clone, Debug)]
pub(super) struct StepMove {
    pub(super) from: FieldPath,
    pub(super) to: FieldPath,
    /// The message around the one of the step that `to` is a place in.
    pub(super) enclosing: Option<MessageId>,
    /// Pairs of values, in the types of the two fields; empty if values stay as they are.
    pub(super) values: Vec<(Entry, Entry)>,
    pub(super) cut: Option<TextCut>,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) struct TextCut {
    pub(super) at: String,
    pub(super) is_second: bool,
}

#[derive(Clone, Debug)]
pub(super) struct StepSetting {
    pub(super) path: FieldPath,
    pub(super) source: SettingSource,
}

#[derive(Clone, Debug)]
pub(super) enum SettingSource {
    Constant(Vec<Entry>),
    CopyOf(FieldPath),
}

#[derive(Clone, Debug)]
pub(super) struct ConfiguredExtension {
    pub(super) name: Option<String>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: String,
}

/// An extension, under one of its names.
#[derive(Clone, Debug)]
pub(super) struct KnownExtension {
    kinds: Vec<String>,
    pub(super) name: String,
    pub(super) ty: Option<MessageId>,
    pub(super) always_configured: bool,
}

/// All steps, by the message of the older version.
#[derive(Debug, Default)]
pub(super) struct MigrationSteps {
    by_message: HashMap<MessageId, Vec<MigrationStep>>,
    extensions: BTreeMap<String, Vec<KnownExtension>>,
}

impl MigrationSteps {
    /// Understands steps for an API. Steps of messages that it lacks are left out: a file may be
    /// for more than one release.
    pub(super) fn read(
        tree: &Tree,
        succession: &TypeMapping<'_>,
        migrations: &[MigrationFile],
    ) -> Result<MigrationSteps, DeclarationError> {
        let mut steps = MigrationSteps::default();
        for migration in migrations {
            let value = &migration.value;
            for entry in value.get_all(get_builtin_protos(), "steps") {
                let Some(step) = entry.value.as_message() else { continue };
                let place =
                    step.get(get_builtin_protos(), "message").map_or(entry.span, |it| it.span);
                let name = step.get_str(get_builtin_protos(), "message").unwrap_or_default();
                let Some(old) = tree.message_named(name) else { continue };
                let new = succession.find_next(old.id).unwrap_or(old.id);
                let reader = StepReader { tree, old: old.id, new };
                let read = reader.read_step(step);
                let read = read.map_err(|message| DeclarationError { span: place, message })?;
                steps.by_message.entry(old.id).or_default().push(read);
            }
            for entry in value.get_all(get_builtin_protos(), "extensions") {
                if let Some(extension) = entry.value.as_message() {
                    steps.add_extension(tree, extension);
                }
            }
        }
        Ok(steps)
    }

    fn add_extension(&mut self, tree: &Tree, value: &Message) {
        let own = get_builtin_protos();
        let texts = |name| value.get_all(own, name).filter_map(|it| it.value.as_str());
        let name = value.get_str(own, "name").unwrap_or_default().to_owned();
        let ty = value.get_str(own, "type").and_then(|it| tree.message_named(it)).map(|it| it.id);
        let extension = KnownExtension {
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
    pub(super) fn get_steps(&self, message: MessageId) -> &[MigrationStep] {
        self.by_message.get(&message).map_or(&[], Vec::as_slice)
    }

    /// The features that steps name.
    pub(super) fn iter_features(&self) -> impl Iterator<Item = &str> {
        self.by_message.values().flatten().filter_map(|it| it.feature.as_deref())
    }

    /// The extension with a name, new or old, that may stand in a part of the API. `enclosing` are the
    /// full names of the messages around it, the innermost first: `KIND in MESSAGE` is one of them alone.
    pub(super) fn find_extension<'n>(
        &self,
        name: &str,
        kind: &str,
        enclosing: impl Iterator<Item = &'n str>,
    ) -> Option<&KnownExtension> {
        let named = self.extensions.get(name)?;
        let is_inside = |it: &str, message: &str| it.split_once(" in ") == Some((kind, message));
        let inside = |message: &str| {
            named.iter().find(|it| it.kinds.iter().any(|it| is_inside(it, message)))
        };
        let anywhere =
            |it: &&KnownExtension| it.kinds.is_empty() || it.kinds.iter().any(|it| it == kind);
        { enclosing }.find_map(inside).or_else(|| named.iter().find(anywhere))
    }
}

/// Reads the steps of one message.
struct StepReader<'t> {
    tree: &'t Tree,
    old: MessageId,
    new: MessageId,
}

impl<'t> StepReader<'t> {
    fn read_step(&self, value: &Message) -> Result<MigrationStep, RefusalReason> {
        let own = get_builtin_protos();
        let messages = |name| value.get_all(own, name).filter_map(|it| it.value.as_message());
        let (up, down) = match value.get_i64(own, "direction").unwrap_or(0) {
            1 => (true, DownwardUse::Never),
            2 => (false, DownwardUse::Always),
            _ => (true, DownwardUse::IfNeeded),
        };
        let dropped = value.get_all(own, "drop").filter_map(|it| it.value.as_str());
        let drop: Vec<String> = dropped.map(str::to_owned).collect();
        for name in &drop {
            self.resolve_old_field(name)?;
        }
        Ok(MigrationStep {
            up,
            down,
            when: messages("when").map(|it| self.read_condition(it)).collect::<Result<_, _>>()?,
            moves: messages("moves").map(|it| self.read_move(it)).collect::<Result<_, _>>()?,
            settings: messages("settings")
                .map(|it| self.read_setting(it))
                .collect::<Result<_, _>>()?,
            drop,
            configured: value
                .get_message(own, "configured")
                .map(|it| self.read_configured(it))
                .transpose()?,
            lossy: value.get_str(own, "lossy").filter(|it| !it.is_empty()).map(str::to_owned),
            feature: value.get_str(own, "feature").filter(|it| !it.is_empty()).map(str::to_owned),
        })
    }

    fn resolve_old_field(&self, path: &str) -> Result<(FieldPath, Field<'t>), RefusalReason> {
        let path = FieldPath::parse(path)?;
        if path.segments.iter().any(|it| it.list != ListPart::Plain || it.content.is_some()) {
            return Err("a path in the older message has names and dots only".to_owned());
        }
        let (field, _) = path.resolve(self.tree, self.old)?;
        Ok((path, field))
    }

    fn read_constant(
        &self,
        field: Field<'t>,
        value: &Message,
    ) -> Result<Vec<Entry>, RefusalReason> {
        let node = value_to_json(get_builtin_protos(), value, Span::default());
        read_entries(self.tree, field, node)
            .map_err(|why| format!("the value of `{}` is none: {why}", field.full_name()))
    }

    fn read_condition(&self, value: &Message) -> Result<StepCondition, RefusalReason> {
        let name = value.get_str(get_builtin_protos(), "field").unwrap_or_default();
        let (_, field) = self.resolve_old_field(name)?;
        let is =
            value.get_message(get_builtin_protos(), "is").map(|it| self.read_constant(field, it));
        let is_set = value.get_bool(get_builtin_protos(), "set") == Some(true);
        Ok(StepCondition { field: name.to_owned(), is: is.transpose()?, is_set })
    }

    fn read_move(&self, value: &Message) -> Result<StepMove, RefusalReason> {
        let own = get_builtin_protos();
        let (from, old) = self.resolve_old_field(value.get_str(own, "from").unwrap_or_default())?;
        let text = value.get_str(own, "to").unwrap_or_default();
        let (enclosing, text) = self.split_enclosing(text)?;
        let to = FieldPath::parse(text)?;
        let (new, content) = to.resolve(self.tree, enclosing.unwrap_or(self.new))?;
        let pairs = value.get_all(own, "values").filter_map(|it| it.value.as_message());
        let values = pairs.map(|pair| {
            let side = |name, field| match pair.get_message(own, name) {
                None => Err(format!("a pair of values of `{}` lacks one", old.full_name())),
                Some(value) => {
                    let mut entries = self.read_constant(field, value)?;
                    entries.pop().ok_or_else(|| "a list is no value".to_owned())
                }
            };
            Ok((side("old", old)?, side("new", new)?))
        });
        let values: Vec<(Entry, Entry)> = values.collect::<Result<_, RefusalReason>>()?;
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
        let cut = value.get_str(own, "cut_at").filter(|it| !it.is_empty()).map(|at| TextCut {
            at: at.to_owned(),
            is_second: value.get_i64(own, "part") == Some(2),
        });
        Ok(StepMove { from, to, enclosing, values, cut })
    }

    /// Splits `enclosing(MESSAGE).PATH` into the message and the path in it.
    fn split_enclosing<'p>(
        &self,
        text: &'p str,
    ) -> Result<(Option<MessageId>, &'p str), RefusalReason> {
        let Some(rest) = text.strip_prefix("enclosing(") else { return Ok((None, text)) };
        let (name, path) = rest
            .split_once(").")
            .ok_or_else(|| format!("`{text}` is not a path, such as `enclosing(a.v1.B).c`"))?;
        let outer = self.tree.message_named(name);
        let outer = outer.ok_or_else(|| format!("the API has no message `{name}`"))?;
        Ok((Some(outer.id), path))
    }

    fn read_setting(&self, value: &Message) -> Result<StepSetting, RefusalReason> {
        let own = get_builtin_protos();
        let path = FieldPath::parse(value.get_str(own, "path").unwrap_or_default())?;
        let (field, content) = path.resolve(self.tree, self.new)?;
        if content.is_some() {
            return Err("a path of a setting ends with a field".to_owned());
        }
        let source = match (value.get_message(own, "value"), value.get_str(own, "copy_of")) {
            (Some(constant), _) => SettingSource::Constant(self.read_constant(field, constant)?),
            (None, Some(name)) => SettingSource::CopyOf(self.resolve_old_field(name)?.0),
            (None, None) => return Err("a setting has a value or is a copy".to_owned()),
        };
        Ok(StepSetting { path, source })
    }

    fn read_configured(&self, value: &Message) -> Result<ConfiguredExtension, RefusalReason> {
        let own = get_builtin_protos();
        let text = |name| value.get_str(own, name).unwrap_or_default().to_owned();
        let (name, from, to) = (text("name"), text("from"), text("to"));
        self.resolve_old_field(&from)?;
        FieldPath::parse(&to)?.resolve(self.tree, self.new)?;
        if !name.is_empty() {
            self.resolve_old_field(&name)?;
        }
        let name = Some(name).filter(|it| !it.is_empty());
        Ok(ConfiguredExtension { name, from, to, kind: text("kind") })
    }
}
