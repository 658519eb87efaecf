//! Responses, of which only the nonce is kept while they pass by.

/// The field with the nonce.
const NONCE: u64 = 5;

/// What of a response was read.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    state: State,
    /// How many bytes of the message are left.
    left: usize,
    nonce: Vec<u8>,
    bytes: usize,
    /// All of the message, if somebody wants it.
    whole: Option<Vec<u8>>,
}

/// A response that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) nonce: String,
    /// How many bytes it had.
    pub(crate) bytes: usize,
    /// It, if somebody wanted it.
    pub(crate) whole: Option<Vec<u8>>,
}

/// What comes next. All fields of a response are delimited by their lengths.
#[derive(Debug, Clone, Copy)]
enum State {
    Head { have: usize },
    Tag { value: u64, shift: u32 },
    Length { field: u64, value: u64, shift: u32 },
    Content { field: u64, left: usize },
}

impl Default for State {
    fn default() -> State {
        State::Head { have: 0 }
    }
}

impl Messages {
    /// Reads responses, and keeps all of each if `is_whole`.
    pub(crate) fn new(is_whole: bool) -> Messages {
        Messages { whole: is_whole.then(Vec::new), ..Messages::default() }
    }

    /// Takes in what came, and returns the responses that ended with it.
    pub(crate) fn take(&mut self, mut part: &[u8]) -> Vec<Ended> {
        let mut ended = Vec::new();
        while let Some(&byte) = part.first() {
            let taken = match self.state {
                State::Head { have } => {
                    // A flag, and four bytes of length.
                    self.left = if have <= 1 { 0 } else { self.left << 8 };
                    self.left |= if have == 0 { 0 } else { usize::from(byte) };
                    self.state = State::Head { have: have + 1 };
                    if have == 4 {
                        self.bytes = self.left;
                        self.nonce.clear();
                        self.state = State::Tag { value: 0, shift: 0 };
                    }
                    part = &part[1..];
                    if have == 4 && self.left == 0 {
                        ended.push(self.end());
                    }
                    continue;
                }
                State::Tag { value, shift } => {
                    let value = value | u64::from(byte & 0x7f) << shift;
                    self.state = match byte & 0x80 {
                        0 => State::Length { field: value >> 3, value: 0, shift: 0 },
                        _ => State::Tag { value, shift: shift + 7 },
                    };
                    1
                }
                State::Length { field, value, shift } => {
                    let value = value | u64::from(byte & 0x7f) << shift;
                    self.state = match (byte & 0x80, value) {
                        (0, 0) => State::Tag { value: 0, shift: 0 },
                        (0, _) => State::Content { field, left: value as usize },
                        _ => State::Length { field, value, shift: shift + 7 },
                    };
                    1
                }
                State::Content { field, left } => {
                    let taken = left.min(part.len());
                    if field == NONCE {
                        self.nonce.extend_from_slice(&part[..taken]);
                    }
                    self.state = match left - taken {
                        0 => State::Tag { value: 0, shift: 0 },
                        left => State::Content { field, left },
                    };
                    taken
                }
            };
            if let Some(whole) = &mut self.whole {
                whole.extend_from_slice(&part[..taken]);
            }
            part = &part[taken..];
            self.left -= taken;
            if self.left == 0 {
                ended.push(self.end());
            }
        }
        ended
    }

    fn end(&mut self) -> Ended {
        self.state = State::default();
        Ended {
            nonce: String::from_utf8_lossy(&self.nonce).into_owned(),
            bytes: self.bytes,
            whole: self.whole.as_mut().map(std::mem::take),
        }
    }
}
