//! Bytes that are kept between runs, written and read again. Nothing that is read is trusted: a
//! reader returns `None` for what is cut off or out of range.

/// Appends values to bytes.
#[derive(Default)]
pub(crate) struct ByteWriter(pub(crate) Vec<u8>);

impl ByteWriter {
    pub(crate) fn put_u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn put_u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn put_str(&mut self, text: &str) {
        self.put_u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn put_option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.put_u8(value.is_some().into());
        if let Some(value) = value {
            put(self, value);
        }
    }

    pub(crate) fn put_list<T>(&mut self, items: &[T], put: impl Fn(&mut Self, &T)) {
        self.put_u32(items.len() as u32);
        items.iter().for_each(|it| put(self, it));
    }
}

/// The bytes left to read.
pub(crate) struct ByteReader<'b>(pub(crate) &'b [u8]);

impl<'b> ByteReader<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn read_u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn read_bool(&mut self) -> Option<bool> {
        match self.read_u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(crate) fn read_u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(crate) fn read_u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub(crate) fn read_str(&mut self) -> Option<&'b str> {
        let length = self.read_u32()? as usize;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(crate) fn read_string(&mut self) -> Option<String> {
        self.read_str().map(str::to_owned)
    }

    /// What is or is not there; `None` if the bytes end before that is known.
    pub(crate) fn read_option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.read_bool()? {
            true => read(self).map(Some),
            false => Some(None),
        }
    }

    /// A count, and as many items.
    pub(crate) fn read_list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.read_u32()? as usize;
        // A count that is wrong may be anything, but an item has four bytes or more.
        let mut items = Vec::with_capacity(count.min(self.0.len() / 4));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }
}
