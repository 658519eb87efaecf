//! Finds the parts of a text around a place, whatever their number.

use std::cmp::Reverse;

use abide_syntax::Span;

/// Things that cover parts of a text. Of two parts, one is inside the other or they are apart, as
/// statements are.
pub(crate) struct NestedSpans<T> {
    /// In the order of their starts; those that hold others come first.
    parts: Vec<Part<T>>,
}

struct Part<T> {
    span: Span,
    thing: T,
    /// The part around it.
    holder: Option<usize>,
}

impl<T> NestedSpans<T> {
    pub(crate) fn of(things: impl IntoIterator<Item = (Span, T)>) -> NestedSpans<T> {
        let parts = things.into_iter().map(|(span, thing)| Part { span, thing, holder: None });
        let mut parts: Vec<Part<T>> = parts.collect();
        parts.sort_by_key(|it| (it.span.start, Reverse(it.span.end)));
        let mut open: Vec<(usize, u32)> = Vec::new();
        for (index, part) in parts.iter_mut().enumerate() {
            while open.pop_if(|(_, end)| *end < part.span.end).is_some() {}
            part.holder = open.last().map(|(holder, _)| *holder);
            open.push((index, part.span.end));
        }
        NestedSpans { parts }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns true if a part begins inside a span, behind its start. The span is itself inside of
    /// each part or around it, or apart from it.
    pub(crate) fn has_behind_start_of(&self, span: Span) -> bool {
        let next = self.parts.partition_point(|it| it.span.start <= span.start);
        self.parts.get(next).is_some_and(|it| it.span.end <= span.end)
    }

    /// Returns what covers all of a span, from the inside out. An empty span between two parts is
    /// in both.
    pub(crate) fn find_around(&self, span: Span) -> impl Iterator<Item = &T> {
        let earlier = self.parts.partition_point(|it| it.span.start < span.start);
        let part = |at: Option<usize>| self.parts.get(at?);
        let begin_here =
            self.parts[earlier..].iter().take_while(move |it| it.span.start == span.start);
        let begin_here: Vec<&Part<T>> = begin_here.collect();
        let above = std::iter::successors(part(earlier.checked_sub(1)), move |it| part(it.holder));
        let all = begin_here.into_iter().rev().chain(above);
        all.filter(move |it| span.end <= it.span.end).map(|it| &it.thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that are inside each other or apart.
    fn nested(random: &mut fastrand::Rng, within: Span, depth: u32, spans: &mut Vec<Span>) {
        let mut start = within.start;
        while depth > 0 && start < within.end {
            let end = random.u32(start + 1..=within.end);
            let span = Span::new(start, end);
            // Some parts are covered twice, and some places by nothing.
            (0..random.u8(0..3)).for_each(|_| spans.push(span));
            nested(random, span, depth - 1, spans);
            start = end + random.u32(0..3);
        }
    }

    #[test]
    fn it_finds_what_a_search_of_all_finds() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut most = 0;
        for _ in 0..50 {
            let mut spans = Vec::new();
            nested(&mut random, Span::new(0, 40), 4, &mut spans);
            let parts = NestedSpans::of(spans.iter().copied().zip(0..));
            for (start, end) in (0..40).flat_map(|start| (start..40).map(move |end| (start, end))) {
                let mut found: Vec<usize> =
                    parts.find_around(Span::new(start, end)).copied().collect();
                found.sort_unstable();
                let holds = |it: &usize| spans[*it].start <= start && end <= spans[*it].end;
                let all: Vec<usize> = (0..spans.len()).filter(holds).collect();
                assert_eq!(found, all, "{start}..{end} of {spans:?}");
                most = most.max(all.len());
            }
        }
        assert!(most > 3, "at most {most} parts held a place");
    }

    #[test]
    fn it_knows_what_has_parts_inside() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut answers = [0, 0];
        for _ in 0..50 {
            let mut spans = Vec::new();
            nested(&mut random, Span::new(0, 40), 4, &mut spans);
            // Each part is asked about the others, some of which are left out.
            let known: Vec<Span> = spans.iter().copied().filter(|_| random.bool()).collect();
            let parts = NestedSpans::of(known.iter().map(|it| (*it, ())));
            for span in spans {
                let is_in = |it: &Span| span.start < it.start && it.end <= span.end;
                let has = known.iter().any(is_in);
                assert_eq!(parts.has_behind_start_of(span), has, "{span:?} of {known:?}");
                answers[usize::from(has)] += 1;
            }
        }
        assert!(answers.iter().all(|it| *it > 50), "{answers:?}");
    }
}
