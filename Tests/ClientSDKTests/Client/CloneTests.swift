import Foundation
import FreshetClient
import FreshetFaultProxy
import FreshetServer
import FreshetTestSupport
import Testing

/// Clients on copies of one directory, as of devices that were made of one image, over a real server. `scripts/soak` runs 200 of them.
@Suite struct CloneTests {
    private static let clones = SoakScale.isSoak ? 200 : 6

    private struct Stock: Codable, Hashable, Sendable {
        var stock: Int
    }

    private func stock(_ client: SyncClient) -> SyncedCollection<Stock> { client.collection("stock", of: Stock.self) }

    @Test("clones of one image that run at the same time have each write applied once", arguments: [0, 2])
    func eachWriteOnce(_ waiting: Int) async throws {
        // Given an image with writes that wait
        let directory = TemporaryDirectory()
        let fixture = try ServerFixture()
        let image = directory.file("image")
        let first = try await fixture.live(throughProxy: true, storage: .directory(image))
        _ = try await within { try await stock(first).increment("/stock", by: 1, of: "all").waitUntilConfirmed() }
        fixture.proxy.refuse()
        try await first.offline()
        for number in 0..<waiting { try await stock(first).increment("/stock", by: 1_000_000, of: number == 0 ? "all" : "other") }
        await first.stop()
        // When each clone writes one shared and one separate record, before and after it is in contact
        try await withThrowingTaskGroup { group in
            for clone in 1...Self.clones {
                let path = directory.file("clone-\(clone)")
                try FileManager.default.copyItem(atPath: image, toPath: path)
                group.addTask {
                    let client = try ServerFixture.client(fixture.server.url, storage: .directory(path))
                    try await client.start()
                    let early = try await stock(client).increment("/stock", by: 1, of: "all")
                    try await stock(client).setValue(Stock(stock: clone), forKey: "clone-\(clone)")
                    try await within { try await client.waitUntilLive() }
                    let late = try await stock(client).increment("/stock", by: 1, of: "all")
                    _ = try await within { try await early.waitUntilConfirmed() }
                    _ = try await within { try await late.waitUntilConfirmed() }
                    try await within { try await client.waitUntilDrained() }
                    await client.stop()
                }
            }
            try await group.waitForAll()
        }
        // Then each write counts once
        let witness = try await fixture.live()
        let sum = 1 + 2 * Self.clones + (waiting > 0 ? 1_000_000 : 0)
        #expect(try await stock(witness).value(forKey: "all") == Stock(stock: sum))
        if waiting > 1 { #expect(try await stock(witness).value(forKey: "other") == Stock(stock: 1_000_000)) }
        for clone in 1...Self.clones { #expect(try await stock(witness).value(forKey: "clone-\(clone)") == Stock(stock: clone)) }
        await witness.stop()
        await fixture.server.stop()
    }
}
