import Subprocess
import TestSupport

/// A shop with two kiosks, the example `Examples/Kiosk`, and one server: each a process that can be killed and started again over its directory.
final class KioskShop {
    let folder = TemporaryDirectory()
    private(set) var left: LineProcess
    private(set) var right: LineProcess
    private var server: LineProcess
    private let port: Int
    /// What the processes that have ended had printed.
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

    // MARK: What was seen

    /// All lines of both kiosks, in all their lives.
    var lines: [String] { earlier + left.seen + right.seen }

    /// The counts that kiosks have shown of a product, pending ones too.
    func counts(of id: String) -> [Int] {
        lines.compactMap { line in
            let words = line.split { ": ,".contains($0) }
            return words.count >= 3 && words[0] == "stock" && words[1] == id ? Int(words[2]) : nil
        }
    }

    /// How many goods were sold, as the kiosks said when the sale was on their disk.
    func sold(_ id: String) -> Int {
        lines.reduce(0) { sum, line in
            let words = line.split(separator: " ")
            return words.count == 4 && words[0] == "sold" && words[3] == id ? sum + (Int(words[1]) ?? 0) : sum
        }
    }

    /// A record's JSON as the server has it.
    func record(_ key: String) async throws -> String { try await curl(["http://127.0.0.1:\(port)/v1/shop/records/\(key)"]).body }
}

extension LineProcess {
    /// Sells goods, and waits until the sale is on the kiosk's disk.
    func sell(_ count: Int, of id: String) async throws {
        send("add \(id) \(count)")
        send("buy")
        try await expect("sold \(count) of \(id)")
    }

    /// Has the kiosk try the server at once, and waits until that has decided all that the kiosk has written.
    func drain() async throws {
        send("reconnect")
        send("wait")
        try await expect("no write waits")
    }
}
