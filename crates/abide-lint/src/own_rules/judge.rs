//! Judges one element, or one change, by a rule.

use abide_validate::cel::CelValue;

use super::compile::empty_tree;
use super::definition::OwnRule;

/// What a rule says about an element.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Its condition does not hold.
    Silent,
    /// Its condition holds.
    Reported {
        /// The message.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// It cannot be said.
    Failed(Failure),
}

/// The reason for which a rule could not judge an element.
#[derive(Clone, Debug)]
pub(crate) struct Failure(pub(crate) String);

impl OwnRule {
    /// Judges an element, or an element of a change with its old and its new side. Returns how many
    /// steps it took, too.
    pub(crate) fn judge<'t>(
        &self,
        this: CelValue<'t>,
        sides: Option<[CelValue<'t>; 2]>,
    ) -> (Verdict, usize) {
        let mut variables = vec![("this", this)];
        let mut is_one_sided = false;
        if let Some([old, new]) = sides {
            is_one_sided = matches!((&old, &new), (CelValue::Null, _) | (_, CelValue::Null));
            variables.extend([("old", old), ("new", new)]);
        }
        let tree = empty_tree();
        let (outcome, mut steps) = self.condition.run_counted(tree, &self.patterns, &variables);
        let verdict = match outcome {
            Ok(CelValue::Bool(false)) => Verdict::Silent,
            Ok(CelValue::Bool(true)) => {
                let (verdict, taken) = self.describe(&variables);
                steps += taken;
                verdict
            }
            // A condition that asks only for what both sides have is about neither additions nor
            // removals.
            Err(_) if is_one_sided => Verdict::Silent,
            Err(error) => Verdict::Failed(Failure(error)),
            Ok(_) => Verdict::Failed(Failure("the condition gives no bool".to_owned())),
        };
        (verdict, steps)
    }

    fn describe<'t>(&self, variables: &[(&str, CelValue<'t>)]) -> (Verdict, usize) {
        let tree = empty_tree();
        let (message, mut steps) = self.message_template.render(tree, &self.patterns, variables);
        let help = self.help_template.as_ref().map(|it| {
            let (help, taken) = it.render(tree, &self.patterns, variables);
            steps += taken;
            help
        });
        let verdict = match (message, help.transpose()) {
            (Ok(message), Ok(help)) => Verdict::Reported { message, help },
            (Err(error), _) | (_, Err(error)) => Verdict::Failed(Failure(error)),
        };
        (verdict, steps)
    }
}
