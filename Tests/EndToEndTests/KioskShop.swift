import FreshetTestSupport
import Subprocess

/// A shop with two kiosks, the example `Examples/Kiosk`, and one server: each is a process that can be killed and
/// started again on its directory.
final class KioskShop {
    let folder = TemporaryDirectory()
    private(set) var left: LineProcess
    private(set) var right: LineProcess
    private var server: LineProcess
    private let port: Int
    /// The output of the processes that have ended.
    private var earlier: [String] = []

    init() async throws {
        port = try await FreePort.shared.next()
        server = Self.server(port, folder)
        try await server.expect(prefix: "listening on ")
        left = Self.kiosk("left", port, folder)
        right = Self.kiosk("right", port, folder)
        for kiosk in [left, right] { try await kiosk.expect(prefix: "status: live") }
    }

    private static func server(_ port: Int, _ folder: TemporaryDirectory) -> LineProcess {
        LineProcess("the server", Product.freshet, ["serve", "--port", "\(port)", "--data", folder.file("server")])
    }

    private static func kiosk(_ name: String, _ port: Int, _ folder: TemporaryDirectory) -> LineProcess {
        LineProcess("the \(name) kiosk", Product.kiosk, ["http://127.0.0.1:\(port)", folder.file(name)])
    }

    // MARK: Kills

    func killServer() async throws { try await server.kill() }

    func startServer() async throws {
        server = Self.server(port, folder)
        try await server.expect(prefix: "listening on ")
    }

    func restartLeft() async throws {
        try await left.kill()
        earlier += left.seen
        left = Self.kiosk("left", port, folder)
    }

    func killRight() async throws {
        try await right.kill()
        earlier += right.seen
    }

    func startRight() { right = Self.kiosk("right", port, folder) }

    func restartRight() async throws {
        try await killRight()
        startRight()
    }

    // MARK: Output

    /// All lines of both kiosks, over all their processes.
    var lines: [String] { earlier + left.seen + right.seen }

    /// The counts of a product that kiosks have shown, pending ones too.
    func counts(of id: String) -> [Int] {
        lines.compactMap { line in
            let words = line.split { ": ,".contains($0) }
            return words.count >= 3 && words[0] == "stock" && words[1] == id ? Int(words[2]) : nil
        }
    }

    /// How many goods were sold, as the kiosks reported when the sale was on their disk.
    func sold(_ id: String) -> Int {
        lines.reduce(0) { sum, line in
            let words = line.split(separator: " ")
            return words.count == 4 && words[0] == "sold" && words[3] == id ? sum + (Int(words[1]) ?? 0) : sum
        }
    }

    /// The JSON of a record on the server.
    func record(_ key: String) async throws -> String { try await curl(["http://127.0.0.1:\(port)/v1/shop/records/\(key)"]).body }
}

extension LineProcess {
    /// Sells goods, and waits until the sale is on the kiosk's disk.
    func sell(_ count: Int, of id: String) async throws {
        send("add \(id) \(count)")
        send("buy")
        try await expect("sold \(count) of \(id)")
    }

    /// Makes the kiosk connect to the server at once, and waits until the server has decided all of the kiosk's writes.
    func drain() async throws {
        send("reconnect")
        send("wait")
        try await expect("no write waits")
    }
}
