//! State of the user interface: order, filter, selection and what is shown.

use std::ops::{ControlFlow, Range};

use kube_endpoint_model::ObjectKey;

use super::column::Column;
use super::keys::{Action, Motion};
use super::model::Row;

/// What the body of the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Table of Services.
    #[default]
    Table,
    /// Table of Services, while the filter is typed.
    Filter,
    /// Details of one Service.
    Detail {
        /// The Service.
        service: ObjectKey,
        /// Number of lines above the first visible one.
        scroll: usize,
    },
}

/// State of the user interface.
#[derive(Debug, Default)]
pub(crate) struct App {
    pub(crate) mode: Mode,
    /// Whether the help covers the body.
    pub(crate) help: bool,
    pub(crate) sort: Column,
    pub(crate) reversed: bool,
    /// Part of `namespace/name` of the Services that are shown.
    pub(crate) filter: String,
    /// Selected Service. `None` until the first movement: the first row is selected, whichever it is.
    selected: Option<ObjectKey>,
    /// Row of the selection when it was last seen, for a Service that is not shown any more.
    at: usize,
    /// First visible row.
    first: usize,
    /// Number of visible rows or lines.
    page: usize,
}

impl App {
    /// Returns whether characters belong to the filter.
    pub(crate) fn is_typing(&self) -> bool {
        self.mode == Mode::Filter && !self.help
    }

    /// Filters and sorts rows.
    pub(crate) fn arrange(&self, mut rows: Vec<Row>) -> Vec<Row> {
        rows.retain(|row| self.filter.is_empty() || row.service.to_string().contains(&self.filter));
        rows.sort_by(|a, b| self.sort.compare(self.reversed, a, b));
        rows
    }

    /// Returns the index of the selected row; 0 without rows.
    pub(crate) fn position(&self, rows: &[Row]) -> usize {
        let selected = self.selected.as_ref();
        let found = selected.and_then(|key| rows.iter().position(|row| row.service == *key));
        found.unwrap_or(self.at).min(rows.len().saturating_sub(1))
    }

    /// Returns the visible rows out of `rows` on a page of `page` rows, such that the selection is visible.
    pub(crate) fn visible(&mut self, rows: &[Row], page: usize) -> Range<usize> {
        self.page = page;
        self.at = self.position(rows);
        self.first = self.first.min(self.at).max((self.at + 1).saturating_sub(page));
        self.first = self.first.min(rows.len().saturating_sub(page));
        self.first..rows.len().min(self.first + page)
    }

    /// Returns the number of lines above the first visible one, out of `lines` on a page of `page` lines.
    pub(crate) fn scrolled(&mut self, lines: usize, page: usize) -> usize {
        self.page = page;
        let Mode::Detail { scroll, .. } = &mut self.mode else { return 0 };
        *scroll = (*scroll).min(lines.saturating_sub(page));
        *scroll
    }

    /// Applies an action to the state; `rows` are the arranged rows. Breaks for [`Action::Quit`].
    pub(crate) fn apply(&mut self, action: Action, rows: &[Row]) -> ControlFlow<()> {
        if action == Action::Quit {
            return ControlFlow::Break(());
        }
        if self.help {
            self.help = !matches!(action, Action::Help | Action::Back | Action::Open);
            return ControlFlow::Continue(());
        }
        if action == Action::Help {
            self.help = true;
            return ControlFlow::Continue(());
        }
        match &mut self.mode {
            Mode::Table => self.apply_to_table(action, rows),
            Mode::Filter => self.apply_to_filter(action, rows),
            Mode::Detail { scroll, .. } => match action {
                Action::Move(motion) => *scroll = moved(*scroll, motion, self.page),
                Action::Back => self.mode = Mode::Table,
                _ => {}
            },
        }
        ControlFlow::Continue(())
    }

    fn apply_to_table(&mut self, action: Action, rows: &[Row]) {
        match action {
            Action::Move(motion) => self.select(motion, rows),
            Action::NextColumn => self.sort_by(self.sort.next()),
            Action::PreviousColumn => self.sort_by(self.sort.previous()),
            Action::Reverse => self.reversed = !self.reversed,
            Action::Filter => self.mode = Mode::Filter,
            Action::Back => self.filter.clear(),
            Action::Open => {
                if let Some(row) = rows.get(self.position(rows)) {
                    self.selected = Some(row.service.clone());
                    self.mode = Mode::Detail { service: row.service.clone(), scroll: 0 };
                }
            }
            Action::Type(_) | Action::Erase | Action::Help | Action::Quit => {}
        }
    }

    fn apply_to_filter(&mut self, action: Action, rows: &[Row]) {
        match action {
            Action::Move(motion) => self.select(motion, rows),
            Action::Type(typed) => self.filter.push(typed),
            Action::Erase => drop(self.filter.pop()),
            Action::Open => self.mode = Mode::Table,
            Action::Back => {
                self.filter.clear();
                self.mode = Mode::Table;
            }
            _ => {}
        }
    }

    fn sort_by(&mut self, column: Column) {
        (self.sort, self.reversed) = (column, false);
    }

    fn select(&mut self, motion: Motion, rows: &[Row]) {
        self.at = moved(self.position(rows), motion, self.page).min(rows.len().saturating_sub(1));
        self.selected = rows.get(self.at).map(|row| row.service.clone());
    }
}

/// Returns a line after a movement, without an upper bound.
fn moved(line: usize, motion: Motion, page: usize) -> usize {
    match motion {
        Motion::Up => line.saturating_sub(1),
        Motion::Down => line.saturating_add(1),
        Motion::PageUp => line.saturating_sub(page),
        Motion::PageDown => line.saturating_add(page),
        Motion::First => 0,
        Motion::Last => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::counts::Counts;
    use rstest::rstest;

    fn rows(names: &[&str]) -> Vec<Row> {
        let row = |name: &&str| Row {
            service: ObjectKey::new("shop", *name),
            changes: 0,
            per_minute: 0,
            endpoints: Counts::default(),
            latency: None,
        };
        names.iter().map(row).collect()
    }

    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    fn apply(app: &mut App, actions: &[Action], rows: &[Row]) {
        for action in actions {
            assert_eq!(app.apply(*action, rows), ControlFlow::Continue(()));
        }
    }

    #[rstest]
    #[case(&[], 0, 0..3)]
    #[case(&[Motion::Up], 0, 0..3)]
    #[case(&[Motion::Down, Motion::Down], 2, 0..3)]
    #[case(&[Motion::Down, Motion::Down, Motion::Down], 3, 1..4)]
    #[case(&[Motion::PageDown], 3, 1..4)]
    #[case(&[Motion::Last], 7, 5..8)]
    #[case(&[Motion::Last, Motion::Down], 7, 5..8)]
    #[case(&[Motion::Last, Motion::PageUp], 4, 4..7)]
    #[case(&[Motion::Last, Motion::First], 0, 0..3)]
    fn selection_moves_and_is_visible(
        #[case] motions: &[Motion],
        #[case] position: usize,
        #[case] visible: Range<usize>,
    ) {
        let (mut app, rows) = (App::default(), rows(&NAMES));
        app.visible(&rows, 3);
        for motion in motions {
            apply(&mut app, &[Action::Move(*motion)], &rows);
            app.visible(&rows, 3);
        }
        assert_eq!((app.position(&rows), app.visible(&rows, 3)), (position, visible));
    }

    #[test]
    fn selection_follows_its_service() {
        let mut app = App::default();
        apply(&mut app, &[Action::Move(Motion::Down)], &rows(&NAMES));
        assert_eq!(app.position(&rows(&["h", "g", "b"])), 2);
        assert_eq!(app.position(&rows(&["h", "g"])), 1, "the row where it was, if the Service is gone");
        assert_eq!(app.position(&[]), 0);
        assert_eq!(app.visible(&[], 3), 0..0);
    }

    #[test]
    fn without_a_movement_the_first_row_is_selected() {
        let mut app = App::default();
        app.visible(&rows(&NAMES), 3);
        assert_eq!(app.position(&rows(&["h", "a"])), 0);
    }

    #[test]
    fn filter_is_typed_and_removed() {
        let (mut app, all) = (App::default(), rows(&["web", "web-db", "api"]));
        apply(&mut app, &[Action::Filter, Action::Type('w'), Action::Type('x'), Action::Erase], &all);
        assert!(app.is_typing());
        assert_eq!(app.arrange(all.clone()).len(), 2);
        apply(&mut app, &[Action::Open], &all);
        assert!(!app.is_typing());
        assert_eq!(app.filter, "w");
        apply(&mut app, &[Action::Back], &all);
        assert_eq!(app.arrange(all).len(), 3);
    }

    #[test]
    fn filter_matches_the_namespace_too() {
        let app = App { filter: "shop/w".to_owned(), ..App::default() };
        assert_eq!(app.arrange(rows(&["web", "api"])), rows(&["web"]));
    }

    #[test]
    fn details_are_opened_scrolled_and_left() {
        let (mut app, rows) = (App::default(), rows(&NAMES));
        apply(&mut app, &[Action::Move(Motion::Down), Action::Open, Action::Move(Motion::Last)], &rows);
        assert_eq!(app.scrolled(10, 4), 6);
        apply(&mut app, &[Action::Move(Motion::Up)], &rows);
        assert_eq!(app.mode, Mode::Detail { service: ObjectKey::new("shop", "b"), scroll: 5 });
        assert_eq!(app.scrolled(3, 4), 0);
        apply(&mut app, &[Action::Back], &rows);
        assert_eq!((app.mode.clone(), app.position(&rows)), (Mode::Table, 1));
    }

    #[test]
    fn help_is_closed_before_anything_else() {
        let (mut app, rows) = (App::default(), rows(&NAMES));
        apply(&mut app, &[Action::Open, Action::Help, Action::Move(Motion::Down)], &rows);
        assert!(app.help);
        apply(&mut app, &[Action::Back], &rows);
        assert!(!app.help);
        assert_eq!(app.mode, Mode::Detail { service: ObjectKey::new("shop", "a"), scroll: 0 });
    }

    #[test]
    fn another_column_is_in_its_own_order() {
        let mut app = App::default();
        apply(&mut app, &[Action::Reverse, Action::NextColumn], &[]);
        assert_eq!((app.sort, app.reversed), (Column::PerMinute, false));
    }

    #[test]
    fn quit_breaks() {
        let mut app = App { help: true, ..App::default() };
        assert_eq!(app.apply(Action::Quit, &[]), ControlFlow::Break(()));
    }
}
