//! The page of a summary, in a browser: at the widths of a phone and of a desktop, in both color schemes, and on paper.
//!
//! Without Debian's `chromium` or `chromium-headless-shell`, or Chrome, the tests in a browser are skipped, and say so.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use kube_endpoints_history::Kind;
use kube_endpoints_history::summary::{Options, page};
use kube_endpoints_testing::shop::{pod, service};
use rstest::rstest;
use serde_json::Value;

use crate::summary::Event::{self, Put, Remove, Soon};
use crate::summary::{slice, summary};

/// Names that a page must show as text.
const NAMES: [&str; 4] = [
    "<script>parent.pwned = 1</script>",
    "\"><img src=x onerror=parent.pwned=1>",
    "</title></svg></style><b>bold</b>",
    "web-with-a-name-that-is-as-long-as-names-of-services-can-be-63-c",
];
const MANAGER: &str = "<b onmouseover='parent.pwned=1'>edit</b> & \u{202e}co";

/// Returns the page of Services with outages, a rollout, a gap, and hostile names.
fn sample() -> String {
    let mut before = Vec::new();
    let mut events = Vec::new();
    for (at, name) in NAMES.into_iter().enumerate() {
        before.extend([service(name), pod(name, 0, true), pod(name, 1, true), slice(name, &[0, 1], &[])]);
        for at in 0..=at {
            events.extend([
                Put(MANAGER, pod(name, at % 2, false)),
                Soon(MANAGER, slice(name, &[1 - at % 2], &[at % 2])),
                Put("kubelet", pod(name, 1 - at % 2, false)),
                Soon("kube-controller-manager", slice(name, &[], &[0, 1])),
                Put("kubelet", pod(name, 0, true)),
                Soon("kube-controller-manager", slice(name, &[0], &[1])),
                Put("kubelet", pod(name, 1, true)),
            ]);
        }
    }
    events.extend([Event::Gap, Remove(Kind::Node, "n1")]);
    page(&summary(&before, &events, &Options::default()))
}

#[test]
fn a_page_is_complete_in_itself() {
    let page = sample();
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{}", &page[..60]);
    for word in
        ["http:", "https:", "//", "<script", "<link", "<img", "url(", "@import", "<b>", "<iframe", "javascript:"]
    {
        assert!(!page.contains(word), "{word} in {page}");
    }
    assert!(page.contains("&lt;script&gt;parent.pwned = 1&lt;/script&gt;") && page.contains("&lt;b onmouseover="));
    assert!(!page.contains('\u{202e}'), "the order of the text is that of the page");
    assert!(
        page.contains("name=\"viewport\"")
            && page.contains("prefers-color-scheme: dark")
            && page.contains("@media print")
    );
}

/// A program that renders pages, in an empty folder.
struct Browser {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Browser {
    /// Finds a browser; says on standard error that the test is skipped if there is none.
    fn find() -> Option<Browser> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-headless-shell", "google-chrome"];
        let programs = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
        let program = programs.into_iter().find(|program| program.is_file());
        if program.is_none() {
            // Not `eprintln!`, whose output is only shown for tests that fail.
            let text = "SKIPPED: no chromium in PATH (apt-get install chromium): the page of a summary is not rendered";
            writeln!(std::io::stderr(), "{text}").expect("standard error");
        }
        Some(Browser { program: program?, folder: tempfile::tempdir().expect("a folder") })
    }

    fn run(&self, page: &str, options: &[&str]) -> String {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, page).expect("the page");
        let data = format!("--user-data-dir={}", self.folder.path().join("data").display());
        let mut command = Command::new(&self.program);
        // The test runs as root in containers, which have no sandbox.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", &data]).args(options);
        let output = command.arg(format!("file://{}", file.display())).output().expect("the browser starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Shows a page in a frame of a width, and returns what a script finds there.
    fn measure(&self, page: &str, width: usize, options: &[&str]) -> Value {
        let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
        let frame =
            format!("<iframe id=f srcdoc=\"{quoted}\" style=\"width:{width}px;height:900px;border:0\"></iframe>");
        let wrapper =
            format!("<!DOCTYPE html><meta charset=utf-8><body>{frame}<pre id=found></pre><script>{SCRIPT}</script>");
        let document = self.run(&wrapper, &[&["--virtual-time-budget=10000", "--dump-dom"], options].concat());
        let (_, found) = document.rsplit_once("<pre id=\"found\">").expect("the script");
        let (found, _) = found.split_once("</pre>").expect("the end of the element");
        let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"))
    }
}

/// Measures the page in the frame. Contrast is that of WCAG 2.
const SCRIPT: &str = r#"
const frame = document.getElementById("f");
frame.addEventListener("load", () => {
  const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement;
  const all = (selector, from) => [...(from || page).querySelectorAll(selector)];
  const rgb = text => text.match(/[\d.]+/g).map(Number);
  const light = text => {
    const [r, g, b] = rgb(text).slice(0, 3).map(it => it / 255).map(it => it <= .03928 ? it / 12.92 : ((it + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const background = view.getComputedStyle(page.body).backgroundColor;
  const contrast = element => {
    const [a, b] = [light(view.getComputedStyle(element).color), light(background)].sort((a, b) => b - a);
    return (a + .05) / (b + .05);
  };
  document.getElementById("found").textContent = JSON.stringify({
    width: root.clientWidth, scroll: root.scrollWidth, background,
    beyond: all("body *").filter(it => it.getBoundingClientRect().right > root.clientWidth + 1).map(it => it.outerHTML.slice(0, 80)),
    services: all("section.service h3").map(it => it.textContent),
    charts: all("section.service svg[role=img]").map(it => it.getBoundingClientRect().width > 200
      && it.getBoundingClientRect().height > 50 && all("title", it).length > 1 && it.querySelectorAll("path.ready").length == 1
      && it.getAttribute("aria-labelledby").split(" ").every(id => page.getElementById(id).textContent != "")),
    tables: all("section.service").map(it => all("table tr", it).length),
    scripts: all("script, img, link, b, iframe").length,
    requests: view.performance.getEntriesByType("resource").length,
    pwned: "pwned" in window,
    contrast: Math.min(...all("p, td, th, a, h1, h2, h3, summary, span, li").map(contrast)),
    small: Math.min(...all("td, p, summary, span").map(it => parseFloat(view.getComputedStyle(it).fontSize))),
  });
});
"#;

#[rstest]
#[case::small_phone(320, false)]
#[case::phone(390, false)]
#[case::phone_at_night(390, true)]
#[case::desktop(1280, false)]
fn a_page_fits(#[case] width: usize, #[case] is_dark: bool) {
    let Some(browser) = Browser::find() else { return };
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark));
    let found = browser.measure(&sample(), width, &["--window-size=1400,1000", &scheme]);
    assert!(found["scroll"].as_u64() <= found["width"].as_u64() && found["beyond"] == serde_json::json!([]), "{found}");
    let mut services: Vec<&str> =
        found["services"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    services.sort_unstable();
    let mut expected = NAMES.map(|name| format!("shop/{name}"));
    expected.sort_unstable();
    assert_eq!(services, expected, "names are text");
    assert_eq!(found["charts"], serde_json::json!([true, true, true, true]), "{found}");
    assert!(found["tables"].as_array().expect("a list").iter().all(|rows| rows.as_u64() > Some(3)), "{found}");
    for nothing in ["scripts", "requests"] {
        assert_eq!(found[nothing], 0, "{found}");
    }
    assert_eq!(found["pwned"], false);
    assert_eq!(found["background"], if is_dark { "rgb(13, 17, 23)" } else { "rgb(255, 255, 255)" });
    assert!(found["contrast"].as_f64() >= Some(4.5) && found["small"].as_f64() >= Some(12.0), "{found}");
}

/// Returns the number of pages of a document.
fn printed(browser: &Browser, page: &str, name: &str) -> usize {
    let file = browser.folder.path().join(name);
    browser.run(page, &["--no-pdf-header-footer", &format!("--print-to-pdf={}", file.display())]);
    let document = std::fs::read(&file).expect("a document");
    assert!(document.starts_with(b"%PDF-"));
    String::from_utf8_lossy(&document).matches("/Type /Page\n").count()
}

#[test]
fn changes_are_printed_even_if_they_are_folded() {
    let Some(browser) = Browser::find() else { return };
    let unfolded = sample();
    let folded = unfolded.replace("<details open>", "<details>");
    assert_ne!(unfolded, folded);
    let hidden = folded.replace("</style>", "details { display: none }</style>");
    let [unfolded, folded, hidden] =
        [(unfolded, "a.pdf"), (folded, "b.pdf"), (hidden, "c.pdf")].map(|(page, name)| printed(&browser, &page, name));
    assert!(unfolded == folded && folded > hidden && hidden > 0, "{unfolded}, {folded}, {hidden}");
}
