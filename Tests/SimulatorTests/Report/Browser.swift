import Foundation
import FreshetSimulator
import Subprocess
import TestSupport

/// Headless Chromium, which opens a report, plays its reader, and tells what it found.
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

    /// What a script that ran in the page returned. Anything that the browser complained of, or fetched, fails.
    ///
    /// The script is the body of an asynchronous function and returns a value that JSON can tell.
    func findings<Findings: Decodable>(in page: [UInt8], as type: Findings.Type = Findings.self, _ script: String) async throws -> Findings
    {
        let folder = TemporaryDirectory()
        folder.write(Array(Self.watched(page, script).utf8), to: "page.html")
        let document = try await run(on: "file://" + folder.file("page.html"), with: ["--dump-dom"], profile: folder.file("profile"))
        guard let begin = document.firstRange(of: "<pre id=\"findings\">"),
            let end = document[begin.upperBound...].firstRange(of: "</pre>"),
            let text = document[begin.upperBound..<end.lowerBound].removingPercentEncoding
        else { throw CommandFailure(description: "the page told nothing; it ended as: \(document.prefix(2_000))") }
        let report = try JSONDecoder().decode(Report<Findings>.self, from: Data(text.utf8))
        guard report.troubles.isEmpty, let value = report.value else {
            throw CommandFailure(description: "in the browser: \(report.troubles.joined(separator: "; "))")
        }
        return value
    }

    /// A picture of the page as it opens, one pixel to each of CSS, as PNG.
    func picture(of page: [UInt8]) async throws -> [UInt8] {
        let folder = TemporaryDirectory()
        folder.write(page, to: "page.html")
        let picture = folder.file("page.png")
        _ = try await run(on: "file://" + folder.file("page.html"), with: ["--screenshot=\(picture)"], profile: folder.file("profile"))
        guard let bytes = FileManager.default.contents(atPath: picture) else {
            throw CommandFailure(description: "chromium wrote no picture")
        }
        return Array(bytes)
    }

    private struct Report<Findings: Decodable>: Decodable {
        let troubles: [String]
        let value: Findings?
    }

    private func run(on address: String, with arguments: [String], profile: String) async throws -> String {
        // As root it has no sandbox; a container's /dev/shm is small.
        let common = [
            "60", executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--force-device-scale-factor=1", "--window-size=\(width),\(height)", "--virtual-time-budget=20000",
            "--user-data-dir=\(profile)",
            "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)", "--enable-logging=stderr", "--disable-background-networking",
        ]
        let result = try await Subprocess.run(
            .name("timeout"), arguments: Arguments(common + arguments + [address]), output: .string(limit: 64 << 20),
            error: .string(limit: 1 << 20))
        guard result.terminationStatus.isSuccess else {
            throw CommandFailure(description: "\(executable) ended with \(result.terminationStatus): \(result.standardError.suffix(2_000))")
        }
        let complaints = result.standardError.split(separator: "\n").filter { $0.contains("CONSOLE") }
        guard complaints.isEmpty else { throw CommandFailure(description: "console: \(complaints.joined(separator: "\n"))") }
        return result.standardOutput
    }

    /// The page with a watch at its beginning, for what goes wrong, and the reader's script at its end.
    private static func watched(_ page: [UInt8], _ script: String) -> String {
        let watch = """
            <script>
            // While its clock is virtual a headless browser asks for no frames; timers it does run.
            window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 16);
            const troubles = [];
            addEventListener("error", event => troubles.push("error: " + event.message));
            addEventListener("unhandledrejection", event => troubles.push("rejection: " + event.reason));
            addEventListener("securitypolicyviolation", event => troubles.push("refused: " + event.blockedURI + event.violatedDirective));
            </script>
            """
        return String(decoding: page, as: UTF8.self)
            .replacing("<meta charset", with: watch + "<meta charset", maxReplacements: 1)
            .replacing("</body>\n</html>", with: "<script>\(reader(script))</script></body></html>")
    }

    private static func reader(_ script: String) -> String {
        #"""
        (() => {
          const byId = id => document.getElementById(id);
          const all = selector => [...document.querySelectorAll(selector)];
          const settle = () => new Promise(done => setTimeout(done, 40));
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
            const text = encodeURIComponent(JSON.stringify({ troubles: [...troubles, ...fetched], value }));
            const findings = document.createElement("pre");
            findings.id = "findings";
            findings.textContent = text;
            document.body.append(findings);
          };
          (async () => {
        """# + script + #"""
              })().then(tell, error => {
                troubles.push("thrown: " + error.stack);
                tell(null);
              });
            })();
            """#
    }
}
