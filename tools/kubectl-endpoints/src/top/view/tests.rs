//! Screens, most of 80 columns and 12 lines.

use kube_endpoint_model::Pod;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use rstest::rstest;

use super::*;
use crate::top::keys::{Action, Motion};
use crate::top::objects::{added, at, listed, pod, service, slice, updated};

/// Returns a model with the Services `web` and `api`. The Pod `p` of `web` became not ready at 100 ms, and its slice
/// showed that at 130 ms.
fn model() -> Model {
    let mut model = Model::default();
    model.service(&listed(service("web")), at(0));
    model.service(&listed(service("api")), at(0));
    model.pod(&listed(pod("p", 1, true)), at(0));
    model.slice(&listed(slice("web-1", "web", &[("p", 1, true)])), at(0));
    let not_ready = Pod { resource_version: 2.into(), ..pod("p", 1, false) };
    model.pod(&updated(pod("p", 1, true), not_ready), at(100));
    let (old, new) = (slice("web-1", "web", &[("p", 1, true)]), slice("web-1", "web", &[("p", 1, false)]));
    model.slice(&updated(old, new), at(130));
    model
}

fn header() -> Header {
    Header { scope: "namespace shop".to_owned(), ..Header::default() }
}

/// Applies actions to a new user interface, each after a redraw, and returns the lines of the screen.
fn screen(model: &Model, header: &Header, actions: &[Action], (width, height): (u16, u16)) -> Vec<String> {
    let now = Duration::from_secs(1);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let mut app = App::default();
    for action in actions {
        terminal.draw(|frame| draw(frame, &mut app, model, header, now)).expect("a screen");
        let rows = app.arrange(model.rows(now));
        assert!(app.apply(*action, &rows).is_continue());
    }
    terminal.draw(|frame| draw(frame, &mut app, model, header, now)).expect("a screen");
    let cells = terminal.backend().buffer().content().chunks(usize::from(width));
    cells.map(|line| line.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned()).collect()
}

const FOOTER: &str = "↑↓ select  Enter details  ←→ sort  r reverse  / filter  ? help  q quit";

#[test]
fn table_of_services() {
    let expected = [
        "Services of namespace shop: 2",
        "NAMESPACE  NAME               CHANGES↓  /MIN  ENDPOINTS  NOT READY      P50/LAST",
        "shop       web                       1     1          1          1   30 ms/30 ms",
        "shop       api                       0     0          0          0             -",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        FOOTER,
    ];
    assert_eq!(screen(&model(), &header(), &[], (80, 12)), expected);
}

#[test]
fn table_by_name_with_metrics_and_loading_caches() {
    let header =
        Header { caches: "loading Pods".to_owned(), metrics: Some("metrics: unreachable".to_owned()), ..header() };
    let expected = [
        "Services of namespace shop: 2  [loading Pods]",
        "metrics: unreachable",
        "NAMESPACE  NAME↑               CHANGES  /MIN  ENDPOINTS  NOT READY      P50/LAST",
        "shop       api                       0     0          0          0             -",
        "shop       web                       1     1          1          1   30 ms/30 ms",
        FOOTER,
    ];
    assert_eq!(screen(&model(), &header, &[Action::PreviousColumn], (80, 6)), expected);
}

#[test]
fn details_of_a_service() {
    let expected = [
        "Services of namespace shop: 2",
        "shop/web",
        "  selector app=web",
        "  changes 1, 1 in the last minute; change to slice p50 30 ms, last 30 ms",
        "SLICES",
        "  web-1  IPv4  1 endpoint, 1 not ready  http:8080/TCP  endpointslice-controller.",
        "    10.0.0.1  not ready  p  node-a",
        "PODS",
        "  p  not ready  10.0.0.1  node-a",
        "LAST CHANGES (UTC)",
        "  00:00:00.130  updated  web-1  endpoints 1  ready 1 -> 0  after 30 ms",
        "↑↓ scroll  Esc back  ? help  q quit",
    ];
    assert_eq!(screen(&model(), &header(), &[Action::Open], (80, 12)), expected);
}

#[test]
fn details_are_scrolled() {
    let lines = screen(&model(), &header(), &[Action::Open, Action::Move(Motion::Last)], (80, 4));
    assert_eq!(lines[1], "LAST CHANGES (UTC)");
    assert!(lines[2].starts_with("  00:00:00.130  updated"), "{lines:?}");
}

#[test]
fn details_name_pods_that_the_slices_do_not_show() {
    let mut model = model();
    model.pod(&added(pod("q", 2, true)), at(400));
    let lines = screen(&model, &header(), &[Action::Open], (80, 12));
    assert_eq!(lines[4], "  changes of 1 Pod not in the slices yet, for 600 ms");
}

#[test]
fn filter_is_shown_while_it_is_typed() {
    let lines = screen(&model(), &header(), &[Action::Filter, Action::Type('w')], (80, 4));
    let row = "shop       web                       1     1          1          1   30 ms/30 ms";
    let title = "Services of namespace shop: 2, 1 match \"w\"";
    assert_eq!((&*lines[0], &*lines[2], &*lines[3]), (title, row, "/w█  Enter keep  Esc all"));
}

#[test]
fn help_fits_into_a_terminal_of_80_by_24() {
    let lines = screen(&model(), &header(), &[Action::Help], (80, 24));
    assert_eq!(lines[1..=HELP.len()], HELP);
}

#[test]
fn long_names_are_shortened() {
    let mut model = Model::default();
    model.service(&listed(service("a-service-with-a-long-name")), at(0));
    let lines = screen(&model, &header(), &[], (80, 4));
    assert_eq!(lines[2], "shop       a-service-with-a-…        0     0          0          0             -");
}

#[rstest]
fn small_terminals(#[values((1, 1), (20, 2), (20, 3), (300, 4))] size: (u16, u16)) {
    for actions in [&[][..], &[Action::Move(Motion::Down)], &[Action::Open], &[Action::Help]] {
        assert_eq!(screen(&model(), &header(), actions, size).len(), usize::from(size.1));
    }
}
