//! placeholder
use super::*;
#[derive(Debug, Default)]
pub struct NewJob;
impl Screen for NewJob {
    fn actions(&self) -> &'static [Action] { &[] }
    fn update(&mut self, _: &Event<'_>, _: &mut Cx<'_>) -> Handled { Handled::No }
    fn view(&self, _: Rect, _: &mut Buffer, _: &ViewCx<'_>) {}
    fn title(&self, _: &Data) -> String { String::new() }
}
