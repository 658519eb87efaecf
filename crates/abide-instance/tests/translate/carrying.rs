//! A law over values as people write them for Envoy: what its reader takes is carried up and down,
//! and what is written is read again.

use abide_instance::{
    ConvertedText, Dialect, Direction, Instance, Notation, ReadOptions, VersionConverter,
    convert_text,
};
use abide_schema::value::{Codec, Message};
use abide_schema::{MessageId, Tree};
use fastrand::Rng;

use super::notations::{ValueWriter, Written, YamlWriter, as_json, as_long_json};

/// What values are made of and carried by.
pub(crate) struct Subject<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) converter: &'a VersionConverter<'a>,
    /// The types of documents.
    pub(crate) types: &'a [MessageId],
    /// The types that an Any may hold.
    pub(crate) contents: &'a [MessageId],
    /// Names of extensions, and the types that a Struct beside such a name stands for.
    pub(crate) extensions: &'a [(String, MessageId)],
    /// True if what goes up without a loss comes down, and goes up again as before.
    pub(crate) comes_back: bool,
}

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its reader refuses it.
    Refused,
    /// It went up, and has losses.
    Lossy,
    /// It went up without a loss.
    Carried,
}

/// Makes a value, carries each of its texts up and down, and says what became of them.
pub(crate) fn carry_random(subject: &Subject<'_>, random: &mut Rng) -> Result<Outcome, String> {
    let ty = subject.types[random.usize(..subject.types.len())];
    let mut writer = ValueWriter::new(subject.tree, random, subject.contents, subject.extensions);
    let value = writer.message(ty, 3);
    let json = if random.bool() { as_json(&value) } else { as_long_json(&value, 0) };
    let yaml = YamlWriter::new(random).write(&value);
    let outcome = carry_text(subject, ty, Notation::Json, json.as_bytes())?;
    if matches!(&value, Written::Map(members) if !members.is_empty()) {
        carry_text(subject, ty, Notation::Yaml, yaml.as_bytes())?;
    }
    let Some(message) = read(subject.tree, ty, Notation::Json, json.as_bytes()) else {
        return Ok(outcome);
    };
    let codec = Codec::new(subject.tree);
    carry_text(subject, ty, Notation::Binary, &codec.encode(&message))?;
    carry_text(subject, ty, Notation::Text, codec.to_text(&message).as_bytes())?;
    Ok(outcome)
}

/// Carries a text up and what becomes of it down.
fn carry_text(
    subject: &Subject<'_>,
    ty: MessageId,
    notation: Notation,
    text: &[u8],
) -> Result<Outcome, String> {
    let shown = String::from_utf8_lossy(text);
    let name = subject.tree.message(ty).full_name();
    let fails = |why: &str| Err(format!("{name} in {notation:?}: {why}\n{shown}"));
    let up = match carry(subject, ty, notation, text, &Direction::Up(None)) {
        Err(why) => return fails(&format!("up: {why}")),
        Ok(up) => up,
    };
    let Some(new_text) = &up.text else { return Ok(Outcome::Refused) };
    let Some(document) = up.documents.first() else { return Ok(Outcome::Carried) };
    let shown_new = String::from_utf8_lossy(new_text);
    if notation == Notation::Yaml {
        let marks = ["# A value", "# about", "# end"];
        let count = |text: &str| marks.iter().map(|it| text.matches(it).count()).sum::<usize>();
        if document.losses.is_empty() && count(&shown_new) + up.notes.len() < count(&shown) {
            return fails(&format!("a comment is lost:\n{shown_new}"));
        }
    }
    let Some(new) = read(subject.tree, document.new, notation, new_text) else {
        return fails(&format!("the new text is refused:\n{shown_new}"));
    };
    let major = subject.tree.message(ty).package().version().map_or(0, |it| it.major);
    let down = carry(subject, document.new, notation, new_text, &Direction::Down(major));
    let down = match down {
        Err(why) => return fails(&format!("down: {why}:\n{shown_new}")),
        Ok(down) => down,
    };
    let (Some(old_text), Some(back)) = (&down.text, down.documents.first()) else {
        return fails(&format!("the new text is not read for the way down:\n{shown_new}"));
    };
    if read(subject.tree, back.new, notation, old_text).is_none() {
        let shown_old = String::from_utf8_lossy(old_text);
        return fails(&format!("what came down is refused:\n{shown_new}{shown_old}"));
    }
    if !document.losses.is_empty() {
        return Ok(Outcome::Lossy);
    }
    if subject.comes_back && back.losses.is_empty() {
        let again = carry(subject, back.new, notation, old_text, &Direction::Up(None));
        let again = again.ok().and_then(|it| read(subject.tree, document.new, notation, &it.text?));
        if again.map(|it| show(subject.tree, &it)) != Some(show(subject.tree, &new)) {
            let shown_old = String::from_utf8_lossy(old_text);
            return fails(&format!("it comes down otherwise:\n{shown_new}{shown_old}"));
        }
    }
    Ok(Outcome::Carried)
}

fn show(tree: &Tree, value: &Message) -> String {
    let codec = Codec::new(tree);
    codec.to_json(value).unwrap_or_else(|_| format!("{:?}", codec.encode(value)))
}

fn carry(
    subject: &Subject<'_>,
    ty: MessageId,
    notation: Notation,
    text: &[u8],
    way: &Direction,
) -> Result<ConvertedText, String> {
    let options = ReadOptions { notation, ty: Some(ty), dialect: Some(Dialect::Envoy) };
    convert_text(subject.tree, subject.converter, text, options, Some(way))
}

/// The value of a text; `None` if it is refused.
fn read(tree: &Tree, ty: MessageId, notation: Notation, text: &[u8]) -> Option<Message> {
    let options = ReadOptions { notation, ty: Some(ty), dialect: Some(Dialect::Envoy) };
    let instance = Instance::read(tree, text, options);
    if !instance.errors.is_empty() {
        return None;
    }
    let Some(document) = instance.documents.into_iter().next() else {
        return Some(Message::new(ty));
    };
    let reading = document.reading?;
    (reading.errors.is_empty() && reading.undeclared.is_empty()).then_some(reading.message)
}
