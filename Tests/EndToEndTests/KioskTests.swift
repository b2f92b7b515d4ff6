import FoundationEssentials
import FreshetTestSupport
import Subprocess
import Testing

/// The example app with its processes killed by `SIGKILL`: two kiosks over their directories, and the server.
@Suite("The kiosk", .serialized, .timeLimit(.minutes(5)))
struct KioskTests {
    @Test("every sale counts exactly once, whichever process is killed")
    func sales() async throws {
        // Given two kiosks with twenty apples
        let shop = try await KioskShop()
        shop.left.send("product apple 120 Apple")
        shop.left.send("deliver apple 20")
        try await shop.right.expect("product apple: Apple, 120 cents")
        try await shop.right.expect("stock apple: 20")
        // When each kiosk is killed as soon as its sale is on its disk, and the server between them, so that some sales are never sent, some
        // are not acknowledged, and some are made without a server
        for round in 0..<4 {
            try await shop.left.sell(1, of: "apple")
            try await shop.restartLeft()
            if round == 1 { try await shop.killServer() }
            try await shop.right.sell(2, of: "apple")
            try await shop.restartRight()
            if round == 2 { try await shop.startServer() }
        }
        // Then each of the sales is in the stock, once
        #expect(shop.sold("apple") == 12)
        try await shop.left.drain()
        try await shop.right.drain()
        #expect(try await shop.record("stocks/apple") == #"{"count":8}"#)
        try await shop.restartLeft()
        try await shop.restartRight()
        try await shop.left.expect("stock apple: 8")
        try await shop.right.expect("stock apple: 8")
    }

    @Test("the stock never goes below zero, and a sale that is rejected stays until it is retried or discarded")
    func rejections() async throws {
        // Given two kiosks that know of three pears, and no server
        let shop = try await KioskShop()
        shop.left.send("product pear 90 Pear")
        shop.left.send("deliver pear 3")
        try await shop.right.expect("stock pear: 3")
        try await shop.killServer()
        // When both sell two, and the right one is killed before it can send its sale
        try await shop.left.sell(2, of: "pear")
        try await shop.right.sell(2, of: "pear")
        try await shop.killRight()
        try await shop.startServer()
        try await shop.left.drain()
        shop.startRight()
        // Then the later sale is rejected, which the kiosk also reports after it was killed
        let rejected = try await shop.right.expect(prefix: "rejected ")
        #expect(rejected.hasSuffix(": add -2 to stocks/pear: out-of-bounds"))
        try await shop.restartRight()
        try await shop.right.expect(rejected)
        try await shop.right.expect("stock pear: 1")
        #expect(try await shop.record("stocks/pear") == #"{"count":1}"#)
        // And a sale that this kiosk knows to exceed the stock is not made
        shop.right.send("add pear 2")
        shop.right.send("buy")
        try await shop.right.expect("not enough in stock: 2 of pear")

        // When pears are delivered and the sale is retried
        let number = try #require(rejected.split { " :".contains($0) }.dropFirst().first)
        shop.left.send("deliver pear 4")
        try await shop.right.expect("stock pear: 5")
        shop.right.send("retry \(number)")
        try await shop.right.expect(prefix: "stored write ")
        try await shop.right.drain()
        // Then it counts, and is no longer a rejection
        #expect(try await shop.record("stocks/pear") == #"{"count":3}"#)
        shop.right.send("retry \(number)")
        try await shop.right.expect("no rejection \(number)")

        // When another sale is rejected and discarded
        try await shop.left.expect("stock pear: 3")
        try await shop.killServer()
        try await shop.left.sell(3, of: "pear")
        try await shop.right.sell(1, of: "pear")
        try await shop.killRight()
        try await shop.startServer()
        try await shop.left.drain()
        shop.startRight()
        let second = try await shop.right.expect(prefix: "rejected ")
        let secondNumber = try #require(second.split { " :".contains($0) }.dropFirst().first)
        shop.right.send("discard \(secondNumber)")
        try await shop.right.expect("discarded \(secondNumber)")
        // Then it is gone, after a kill too
        try await shop.restartRight()
        shop.right.send("rejections")
        shop.right.send("status")
        try await shop.right.line("a status without rejections") { $0.hasPrefix("status: ") && $0.hasSuffix(", 0 rejected") }
        #expect(!shop.right.seen.contains { $0.hasPrefix("rejected ") })
        #expect(try await shop.record("stocks/pear") == #"{"count":0}"#)
        // And no kiosk has ever shown a negative count
        #expect(shop.counts(of: "pear").count > 6 && shop.counts(of: "pear").allSatisfy { $0 >= 0 })
    }

    @Test("changes of one product at two kiosks are merged")
    func conflict() async throws {
        // Given a product that both kiosks know, and no server
        let shop = try await KioskShop()
        shop.left.send("product apple 120 Apple")
        try await shop.right.expect("product apple: Apple, 120 cents")
        try await shop.killServer()
        // When one changes the price and the other the name, and is killed
        shop.left.send("product apple 150 Apple")
        try await shop.left.expect("product apple: Apple, 150 cents, pending")
        shop.right.send("product apple 120 Red apple")
        try await shop.right.expect("product apple: Red apple, 120 cents, pending")
        try await shop.restartRight()
        try await shop.startServer()
        try await shop.left.drain()
        try await shop.right.drain()
        // Then the product has both changes, everywhere
        #expect(try await shop.record("products/apple") == #"{"name":"Red apple","price":150}"#)
        try await shop.restartLeft()
        try await shop.restartRight()
        try await shop.left.expect("product apple: Red apple, 150 cents")
        try await shop.right.expect("product apple: Red apple, 150 cents")
    }

    @Test("a picture reaches the other kiosk, which has it offline too; a log-out leaves nothing of the shop on the disk")
    func pictureAndLogOut() async throws {
        // Given a picture larger than the 64 KiB that a change carries, which replaces an earlier one
        let shop = try await KioskShop()
        let (draft, picture) = (Self.picture(of: "draft", bytes: 150_000), Self.picture(of: "final", bytes: 90_000))
        shop.folder.write(draft, to: "draft.png")
        shop.folder.write(picture, to: "final.png")
        shop.left.send("product apple 120 Boskoop")
        shop.left.send("picture apple \(shop.folder.file("draft.png"))")
        try await shop.right.expect("picture apple: 150000 bytes")
        shop.right.send("quit")
        #expect(try await shop.right.ended() == .exited(0))
        shop.startRight()
        // When it is stored at the left kiosk
        shop.left.send("picture apple \(shop.folder.file("final.png"))")
        try await shop.right.expect("picture apple: 90000 bytes")
        try await shop.killServer()
        try await shop.restartRight()
        // Then the right kiosk has it, byte for byte
        shop.right.send("save apple \(shop.folder.file("copy.png"))")
        try await shop.right.expect("saved \(shop.folder.file("copy.png"))")
        #expect(try Data(contentsOf: URL(filePath: shop.folder.file("copy.png"))) == Data(picture))

        // When that kiosk logs out, with a write that was never sent
        shop.right.send("product apple 1 Unsent")
        try await shop.right.expect("product apple: Unsent, 1 cents, pending")
        let marks = ["Boskoop", "Unsent", "draft mark", "final mark"]
        #expect(Set(Self.found(marks, in: shop.folder.file("right"))).isSuperset(of: ["Boskoop", "Unsent", "final mark"]))
        shop.right.send("logout")
        #expect(try await shop.right.ended() == .exited(0))
        // Then its directory holds no data of the shop
        #expect(Self.found(marks, in: shop.folder.file("right")) == [])
        // And the next log-in gets the shop from the server, without that write
        try await shop.startServer()
        shop.startRight()
        try await shop.right.expect("product apple: Boskoop, 120 cents")
        try await shop.right.expect("picture apple: 90000 bytes")
        try await shop.right.drain()
        #expect(try await shop.record("products/apple") == #"{"name":"Boskoop","price":120}"#)
        // And a log-out while the server answers leaves no data either
        shop.right.send("logout")
        #expect(try await shop.right.ended() == .exited(0))
        #expect(Self.found(marks, in: shop.folder.file("right")) == [])
    }

    /// Bytes with a mark on each page of a file.
    private static func picture(of name: String, bytes: Int) -> [UInt8] {
        let mark = Array("\(name) mark, ".utf8)
        return (0..<bytes).map { mark[$0 % mark.count] }
    }

    /// The texts that occur in any file of the folder.
    private static func found(_ texts: [String], in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let files = names.compactMap { try? Data(contentsOf: URL(filePath: "\(folder)/\($0)")) }
        return texts.filter { text in files.contains { $0.firstRange(of: Data(text.utf8)) != nil } }
    }
}
