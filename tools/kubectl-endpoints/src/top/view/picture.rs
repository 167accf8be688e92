//! The picture of the view in the book. `UPDATE_DOCS=1` draws it.

use std::fmt::Write as _;
use std::path::Path;

use kube_endpoint_model::Pod;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::top::objects::{at, listed, pod, service, slice, updated};

const SIZE: (u16, u16) = (88, 11);

/// Returns a model of a rollout of `web`: the Pods become ready one after the other, and slices follow.
fn rollout() -> Model {
    let mut model = Model::default();
    let names = ["web-6c9-2xk", "web-6c9-7bq", "web-6c9-hn4", "web-6c9-vz8"];
    for name in ["api", "cart", "checkout", "search", "web"] {
        model.service(&listed(service(name)), at(0));
    }
    for (name, endpoints) in [("api", 3), ("cart", 2), ("checkout", 6), ("search", 4)] {
        let pods: Vec<String> = (0..endpoints).map(|number| format!("{name}-{number}")).collect();
        let endpoints: Vec<(&str, u8, bool)> =
            (10..).zip(&pods).map(|(address, pod)| (pod.as_str(), address, pod != "cart-1")).collect();
        model.slice(&listed(slice(&format!("{name}-1"), name, &endpoints)), at(0));
    }
    let with = |ready: usize| {
        let endpoints: Vec<_> =
            (1..).zip(names).map(|(address, name)| (name, address, usize::from(address) <= ready)).collect();
        slice("web-1", "web", &endpoints)
    };
    for (address, name) in (1..).zip(names) {
        model.pod(&listed(pod(name, address, false)), at(0));
    }
    model.slice(&listed(with(0)), at(0));
    for (number, delay) in (1_u8..=3).zip([9_u64, 6, 7]) {
        let (time, name) = (u64::from(number) * 4_000, names[usize::from(number) - 1]);
        let ready = Pod { resource_version: 2.into(), ..pod(name, number, true) };
        model.pod(&updated(pod(name, number, false), ready), at(time));
        model.slice(&updated(with(usize::from(number) - 1), with(number.into())), at(time + delay));
    }
    model
}

/// Returns a screen as SVG, with one text element for each run of equal style.
fn svg(screen: &Buffer) -> String {
    let (cell_width, cell_height) = (9, 20);
    let (width, height) = (SIZE.0 * cell_width + 24, SIZE.1 * cell_height + 24);
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <title>kubectl endpoints top</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1d1f21\"/>\n"
    );
    for row in 0..SIZE.1 {
        let cells: Vec<_> = (0..SIZE.0).map(|column| &screen[(column, row)]).collect();
        let mut start = 0;
        for run in cells.chunk_by(|a, b| (a.fg, a.modifier) == (b.fg, b.modifier)) {
            let text: String = run.iter().map(|cell| cell.symbol()).collect();
            let (x, y) = (12 + start * usize::from(cell_width), 12 + row * cell_height);
            let length = run.len() * usize::from(cell_width);
            let is_reversed = run[0].modifier.contains(Modifier::REVERSED);
            if is_reversed {
                let _ = writeln!(
                    picture,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{length}\" height=\"{cell_height}\" fill=\"#c5c8c6\"/>"
                );
            }
            if !text.trim().is_empty() {
                let fill = if is_reversed { "#1d1f21" } else { fill(run[0].fg) };
                let weight = if run[0].modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                let _ = writeln!(
                    picture,
                    "<text x=\"{x}\" y=\"{}\" textLength=\"{length}\" xml:space=\"preserve\" fill=\"{fill}\"{weight}>{text}</text>",
                    y + 15
                );
            }
            start += run.len();
        }
    }
    picture + "</svg>\n"
}

fn fill(color: Color) -> &'static str {
    match color {
        Color::Red | Color::LightRed => "#cc6666",
        Color::Green | Color::LightGreen => "#b5bd68",
        Color::Yellow | Color::LightYellow => "#f0c674",
        Color::Cyan | Color::LightCyan | Color::Blue | Color::LightBlue => "#81a2be",
        Color::DarkGray | Color::Gray => "#969896",
        _ => "#c5c8c6",
    }
}

#[test]
fn the_book_shows_the_view() {
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a terminal");
    let header = Header { scope: "namespace shop".to_owned(), ..Header::default() };
    let (mut app, model) = (App::default(), rollout());
    terminal.draw(|frame| draw(frame, &mut app, &model, &header, Duration::from_secs(20))).expect("a screen");
    let picture = svg(terminal.backend().buffer());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/explain/top.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        std::fs::write(&path, &picture).expect("the picture");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the picture"), picture, "run the tests with UPDATE_DOCS=1");
}
