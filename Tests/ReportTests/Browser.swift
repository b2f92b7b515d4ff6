import Foundation
import FreshetSimulator
import FreshetTestSupport

/// Headless Chromium, which opens a report, acts as its reader, and returns its findings.
struct Browser {
    /// The names under which Debian and others install it.
    static let names = ["chromium", "chromium-browser", "google-chrome"]

    let executable: String
    var width = 1_500
    var height = 1_600
    var isDark = false

    /// Looks for Chromium in the folders of a `PATH`.
    init(searching path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") throws {
        let candidates = path.split(separator: ":").flatMap { folder in Self.names.map { "\(folder)/\($0)" } }
        guard let found = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw CommandFailure(
                description: "the report is tried in a real browser, and there is no chromium in the PATH: "
                    + "scripts/test installs it, or: apt-get install chromium fonts-dejavu-core")
        }
        executable = found
    }

    /// Runs a script in the page and returns its result. An error of the browser, or a request that it makes, fails the test.
    ///
    /// The script is the body of an asynchronous function and returns a value that JSON can represent.
    func findings<Findings: Decodable & Sendable>(
        in page: [UInt8], as type: Findings.Type = Findings.self, _ script: String
    ) async throws -> Findings {
        let folder = TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        folder.write(page, to: "page.html")
        let expression = Self.reader(script)
        let text = try await BrowserProcess.shared.withPage(at: "file://" + folder.file("page.html"), self, before: Self.watch) {
            session, browser in
            let parameters: [String: any Sendable] = ["expression": expression, "awaitPromise": true, "returnByValue": true]
            let evaluation: Evaluation = try await browser.call("Runtime.evaluate", parameters, session)
            return evaluation.result.value
        }
        guard let text else { throw CommandFailure(description: "the script returned nothing") }
        let report = try JSONDecoder().decode(Report<Findings>.self, from: Data(text.utf8))
        guard report.troubles.isEmpty, let value = report.value else {
            throw CommandFailure(description: "in the browser: \(report.troubles.joined(separator: "; "))")
        }
        return value
    }

    /// A picture of the page as it opens, one pixel to each of CSS, as PNG.
    func picture(of page: [UInt8]) async throws -> [UInt8] {
        struct Picture: Decodable { let data: Data }
        let folder = TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        folder.write(page, to: "page.html")
        return try await BrowserProcess.shared.withPage(at: "file://" + folder.file("page.html"), self, before: Self.watch) {
            session, browser in
            let picture: Picture = try await browser.call("Page.captureScreenshot", ["format": "png"], session)
            return Array(picture.data)
        }
    }

    private struct Evaluation: Decodable {
        struct Outcome: Decodable { let value: String? }
        let result: Outcome
    }

    private struct Report<Findings: Decodable>: Decodable {
        let troubles: [String]
        let value: Findings?
    }

    /// Runs before the page's script and records errors. Frames are timers here, which run in order under any load.
    private static let watch = """
        window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 0);
        window.troubles = [];
        addEventListener("error", event => troubles.push("error: " + event.message));
        addEventListener("unhandledrejection", event => troubles.push("rejection: " + event.reason));
        addEventListener("securitypolicyviolation", event => troubles.push("refused: " + event.blockedURI + event.violatedDirective));
        """

    private static func reader(_ script: String) -> String {
        #"""
        (() => {
          const byId = id => document.getElementById(id);
          const all = selector => [...document.querySelectorAll(selector)];
          // Frames asked for earlier are drawn first, and those that they ask for.
          const settle = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
          const press = key => {
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            return settle();
          };
          const click = id => {
            byId(id).click();
            return settle();
          };
          const slide = index => {
            byId("moment").value = String(index);
            byId("moment").dispatchEvent(new Event("input", { bubbles: true }));
            return settle();
          };
          const point = (type, x, y, more = {}) => {
            const options = { clientX: x, clientY: y, button: 0, buttons: 1, pointerId: 1, bubbles: true, cancelable: true, ...more };
            byId("chart").dispatchEvent(type === "wheel" ? new WheelEvent(type, options) : new PointerEvent(type, options));
            return settle();
          };
          // There is no real pointer that could be captured.
          Element.prototype.setPointerCapture = () => {};
          const tell = value => {
            const fetched = performance.getEntriesByType("resource").map(entry => "fetched: " + entry.name);
            return JSON.stringify({ troubles: [...troubles, ...fetched], value });
          };
          return (async () => {
        """# + script + #"""
              })().then(tell, error => {
                troubles.push("thrown: " + error.stack);
                return tell(null);
              });
            })();
            """#
    }
}
